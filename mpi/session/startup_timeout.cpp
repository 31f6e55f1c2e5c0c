#include "mpi/session/startup_timeout.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "hios/base/error.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/messages/launcher.h"
#include "mpi/session/stall_clock.h"

namespace hios::mpi {
namespace {

/// The line of the present step, prepared in advance: a signal handler may only write it. The next
/// step writes into the other room, since MPI's threads may run the handler at the same time.
char rooms[2][512];
std::atomic<const char*> line = rooms[0];
std::atomic<std::uint64_t> steps = 0;  // of all StartupTimeouts
constexpr std::size_t kPrefix = std::string_view("error: ").size();

std::string host_name() {
  char name[256] = "unknown host";
  gethostname(name, sizeof name - 1);
  return name;
}

/// The timer rings several times within the seconds: rings while the process is stopped are one
/// ring when it is continued, and the gap shows that it was stopped.
constexpr int kRings = 4;

StallClock stall(1, 1, 0, 0);  // of the present StartupTimeout
std::atomic_flag ending;       // set once the process ends, for which a sanitizer takes its time
struct sigaction before;

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

[[noreturn]] void give_up() {
  const std::string_view text = line.load();
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  flight::note_ending(flight::Ending::kTimeOut, text.substr(kPrefix, text.size() - kPrefix - 1));
  _exit(static_cast<int>(ExitCode::kRunFailed));
}

extern "C" void on_ring(int) {
  const int error = errno;
  if (stall.stalled(steps, now_s()) && !ending.test_and_set()) give_up();
  errno = error;
}

timeval time_of(double seconds) {
  double whole = 0;
  timeval time{};
  time.tv_usec = static_cast<suseconds_t>(std::modf(seconds, &whole) * 1e6);
  time.tv_sec = static_cast<time_t>(whole);
  return time;
}

}  // namespace

StartupTimeout::StartupTimeout(const SessionTimeout& timeout, const std::string& doing)
    : timeout_(timeout) {
  const double seconds = timeout_.seconds;
  if (seconds <= 0) return;
  next(doing);
  const double interval_s = std::max(seconds / kRings, 1e-3);
  // The last ring comes after the seconds, or a moment before them, where times were rounded.
  stall = StallClock(seconds - interval_s / 2, interval_s, steps, now_s());
  struct sigaction action {};
  action.sa_handler = on_ring;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, &before);
  const itimerval timer{time_of(interval_s), time_of(interval_s)};
  setitimer(ITIMER_REAL, &timer, nullptr);
  armed_ = true;
}

void StartupTimeout::next(const std::string& doing) {
  if (timeout_.seconds <= 0) return;
  char number[32];
  std::snprintf(number, sizeof number, "%g", timeout_.seconds);
  const auto rank = launched_rank();
  const std::string text = "error: rank " + (rank ? std::to_string(*rank) : "?") + " on " +
                           host_name() + ": no answer for " + number + " s" +
                           (timeout_.name.empty() ? "" : " (" + timeout_.name + ")") + " while " +
                           doing + "; is another rank stopped?\n";
  char(&room)[sizeof rooms[0]] = rooms[line == rooms[0] ? 1 : 0];
  room[text.copy(room, sizeof room - 1)] = '\0';
  line = room;
  ++steps;
}

StartupTimeout::~StartupTimeout() {
  if (!armed_) return;
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

}  // namespace hios::mpi
