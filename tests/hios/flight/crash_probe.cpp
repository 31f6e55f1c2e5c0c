// A process with a flight record that ends in the way its argument says; crash_reporter_test.cpp
// starts it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "hios/flight/crash_reporter.h"

namespace flight = hios::flight;

namespace {

/// From here on the kernel is one that does not know the call close_range.
void forget_close_range() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::runtime_error("this kernel filters no calls");
}

/// The only child of this process: its reporter.
pid_t reporter() {
  std::FILE* const file =
      std::fopen(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), "r");
  int child = 0;
  if (file == nullptr || std::fscanf(file, "%d", &child) != 1) throw std::runtime_error("no child");
  std::fclose(file);
  return child;
}

int run_over_the_stack(volatile char* from, std::size_t depth) {
  volatile char room[4096];
  room[0] = from[0];
  return depth == 0 ? 0 : run_over_the_stack(room, depth - 1) + room[0];
}

/// Writes into a pipe that nobody reads.
void write_for_nobody() {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  close(ends[0]);
  [[maybe_unused]] const ssize_t written = write(ends[1], "x", 1);
}

/// Starts a child process that ends by exit(), as one of a library may.
void end_a_child() {
  const pid_t child = fork();
  if (child == 0) std::exit(4);
  waitpid(child, nullptr, 0);
}

volatile sig_atomic_t rings = 0;
void ring(int) { rings = rings + 1; }

/// Signals by the names of their ways to end.
const std::map<std::string, int> kSignals = {
    {"xcpu", SIGXCPU}, {"usr2", SIGUSR2},     {"alrm", SIGALRM}, {"quit", SIGQUIT},
    {"prof", SIGPROF}, {"vtalrm", SIGVTALRM}, {"sys", SIGSYS},   {"trap", SIGTRAP},
    {"io", SIGIO},     {"pwr", SIGPWR},       {"hup", SIGHUP},   {"real-time", SIGRTMIN + 3}};

int end(const std::string& how) {
  if (const auto signal = kSignals.find(how); signal != kSignals.end()) raise(signal->second);
  if (how.starts_with("pipe")) write_for_nobody();
  if (how == "exit-silently") _exit(5);
  if (how == "exit-silently-with-0") _exit(0);
  if (how == "kill-after-a-child") {
    end_a_child();
    raise(SIGKILL);
  }
  if (how == "profiler") {
    for (int i = 0; i < 3; ++i) raise(SIGPROF);
    return rings == 3 ? 0 : 6;
  }
  if (how == "ignored-hup") {
    raise(SIGHUP);
    return 0;
  }
  if (how == "well") return 0;
  if (how == "kill") raise(SIGKILL);
  if (how == "segv") raise(SIGSEGV);
  if (how == "wrong-address") *reinterpret_cast<volatile int*>(8) = 1;
  if (how == "abort") std::abort();
  if (how == "term") raise(SIGTERM);
  if (how == "int") raise(SIGINT);
  if (how == "exit") std::exit(5);
  if (how == "error") {
    flight::report_failure(flight::Ending::kError, "the device is gone");
    _exit(3);
  }
  if (how == "stack") {
    volatile char bottom = 0;
    return run_over_the_stack(&bottom, std::size_t{1} << 40);
  }
  if (how == "many-wishes") {
    for (int i = 0; i < 70'000; ++i) raise(SIGUSR1);
    return 0;
  }
  if (how == "error-after-a-wish") {
    raise(SIGUSR1);
    flight::note_ending(flight::Ending::kError, "said by nobody else");
    _exit(3);
  }
  if (how == "without-reporter") {
    kill(reporter(), SIGKILL);
    raise(SIGUSR1);
    flight::report_failure(flight::Ending::kError, "the device is gone");
    _exit(3);
  }
  if (how == "stopped-reporter") {
    kill(reporter(), SIGSTOP);
    return 0;
  }
  if (how == "segv-after-term") {
    flight::note_ending(flight::Ending::kSignal, flight::kAskedToEnd);
    raise(SIGSEGV);
  }
  if (how == "user") {
    raise(SIGUSR1);
    std::puts("still there");
    return 0;
  }
  throw std::invalid_argument(how);
}

}  // namespace

int main(int argc, char** argv) {
  // HOW FOLDER, or HOW FOLDER REMEDY for a folder that nobody has named.
  if (argc < 3) return 2;
  const std::string how = argv[1];
  if (how == "old-kernel") forget_close_range();
  if (how == "profiler") signal(SIGPROF, ring);
  if (how == "ignored-hup") signal(SIGHUP, SIG_IGN);
  flight::Recorder recorder;
  recorder.set_program("probe");
  how == "pipe-alone" ? recorder.set_rank(0, 1) : recorder.set_rank(1, 2);
  recorder.set_job("job-7");
  if (argc == 3) recorder.set_folder(argv[2]);
  if (argc == 4) recorder.set_own_folder(argv[2], argv[3]);
  const flight::CrashReporter reporter(recorder);
  recorder.phase("running");
  const flight::Subject subjects[] = {{"stage 4: conv_7", "conv_7", {}, 4}};
  const flight::Recorder::Subjects steps(&recorder, subjects);
  recorder.note(flight::EventKind::kStage, steps.at(0), 12);
  return how == "old-kernel" ? 0 : end(how);
}
