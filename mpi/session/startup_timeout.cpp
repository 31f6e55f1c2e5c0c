#include "mpi/session/startup_timeout.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

#include "hios/base/error.h"
#include "mpi/messages/launcher.h"

namespace hios::mpi {
namespace {

char line[512];  // made ahead: a signal handler may only write it

std::string host_name() {
  char name[256] = "unknown host";
  gethostname(name, sizeof name - 1);
  return name;
}

extern "C" void give_up(int) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, std::strlen(line));
  _exit(static_cast<int>(ExitCode::kRunFailed));
}

}  // namespace

StartupTimeout::StartupTimeout(unsigned seconds, const std::string& doing) {
  const auto rank = launched_rank();
  const std::string text = "error: rank " + (rank ? std::to_string(*rank) : "?") + " on " +
                           host_name() + ": no answer for " + std::to_string(seconds) +
                           " s while " + doing + "; is another rank stopped?\n";
  line[text.copy(line, sizeof line - 1)] = '\0';
  std::signal(SIGALRM, give_up);
  alarm(seconds);
}

StartupTimeout::~StartupTimeout() {
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace hios::mpi
