#include "mpi/session/startup_timeout.h"

#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "hios/base/error.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/messages/launcher.h"

namespace hios::mpi {
namespace {

char line[512];  // prepared in advance: a signal handler may only write it
constexpr std::size_t kPrefix = std::string_view("error: ").size();

std::string host_name() {
  char name[256] = "unknown host";
  gethostname(name, sizeof name - 1);
  return name;
}

extern "C" void give_up(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, std::strlen(line));
  flight::note_ending(flight::Ending::kTimeOut,
                      std::string_view(line).substr(kPrefix, std::strlen(line) - kPrefix - 1));
  _exit(static_cast<int>(ExitCode::kRunFailed));
}

}  // namespace

StartupTimeout::StartupTimeout(double seconds, const std::string& doing) {
  if (seconds <= 0) return;
  char number[32];
  std::snprintf(number, sizeof number, "%g", seconds);
  const auto rank = launched_rank();
  const std::string text = "error: rank " + (rank ? std::to_string(*rank) : "?") + " on " +
                           host_name() + ": no answer for " + number + " s while " + doing +
                           "; is another rank stopped?\n";
  line[text.copy(line, sizeof line - 1)] = '\0';
  std::signal(SIGALRM, give_up);
  itimerval timer{};
  double whole = 0;
  timer.it_value.tv_usec = static_cast<suseconds_t>(std::modf(seconds, &whole) * 1e6);
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

StartupTimeout::~StartupTimeout() {
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace hios::mpi
