#include "hios/flight/process_status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace hios::flight {
namespace {

/// A child process that lives until it may end.
class Process {
 public:
  /// `signal` ends it; 0: it exits with `status`.
  Process(int status, int signal) {
    EXPECT_EQ(pipe(ends_), 0);
    number_ = fork();
    if (number_ != 0) return;
    close(ends_[1]);
    char none = 0;
    [[maybe_unused]] const ssize_t end = ::read(ends_[0], &none, 1);
    if (signal != 0) raise(signal);
    _exit(status);
  }
  ~Process() { close(ends_[0]); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t number() const { return number_; }
  /// Lets it end, and returns when it has.
  void end() {
    close(ends_[1]);
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(number_), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
  }
  /// Asks for its status, as its parent does; from then on it is gone.
  int wait() {
    int status = -1;
    while (waitpid(number_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  pid_t number_ = -1;
  int ends_[2] = {-1, -1};
};

TEST(ProcessStatus, IsThatOfWaitBeforeAndPerhapsAfterTheParentAsks) {
  for (const auto& [exit_status, signal] :
       {std::pair(0, 0), {7, 0}, {255, 0}, {0, SIGKILL}, {0, SIGXCPU}, {0, SIGRTMIN + 3}}) {
    Process process(exit_status, signal);
    const ProcessStatus status(process.number());
    EXPECT_EQ(status.read(), std::nullopt) << "it runs";
    process.end();
    const std::optional<int> before = status.read();
    const int waited = process.wait();
    EXPECT_EQ(before, waited);
    EXPECT_EQ(signal == 0 ? WEXITSTATUS(waited) : WTERMSIG(waited),
              signal == 0 ? exit_status : signal);
    // Linux before 6.15 does not know it any more.
    const std::optional<int> after = status.read();
    EXPECT_EQ(after.value_or(waited), waited);
  }
}

TEST(ProcessStatus, IsNothingOfAProcessThatIsGone) {
  Process process(7, 0);
  process.end();
  process.wait();
  EXPECT_EQ(ProcessStatus(process.number()).read(), std::nullopt);
}

}  // namespace
}  // namespace hios::flight
