#include "hios/flight/crash_reporter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hios/base/error.h"
#include "hios/flight/memory.h"

// Two pipes. The process writes a letter into the first where a file is wanted; its end, however it
// comes, closes the pipe, which the child notices at once. Through the second the child says that a
// file is written.
namespace hios::flight {
namespace {

constexpr char kFile = 'f', kWritten = 'w';
constexpr int kWrittenWithinMs = 3000;

struct Fault {
  int signal;
  const char* name;
};
constexpr std::array<Fault, 5> kFaults = {{{SIGSEGV, "SIGSEGV: it used memory that it has not"},
                                           {SIGBUS, "SIGBUS: memory or a disk behind it is gone"},
                                           {SIGFPE, "SIGFPE: an impossible calculation"},
                                           {SIGILL, "SIGILL: an instruction this processor lacks"},
                                           {SIGABRT, "SIGABRT: it gave up"}}};
constexpr std::array<Fault, 3> kWanted = {
    {{SIGTERM, kTold}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}}};

/// What signal handlers and note_ending() see of the one reporter; lives for ever.
struct Shared {
  std::atomic<Memory*> memory = nullptr;
  std::atomic<int> wish = -1;     // the pipe to the child
  std::atomic<int> written = -1;  // the pipe from it
  std::atomic<pid_t> child = 0;
  struct sigaction before[NSIG] = {};
};
Shared shared;

void restore(int signal) { sigaction(signal, &shared.before[signal], nullptr); }

template <std::size_t N>
const char* name_in(const std::array<Fault, N>& faults, int signal) {
  for (const Fault& fault : faults) {
    if (fault.signal == signal) return fault.name;
  }
  return nullptr;
}

// Notes, and lets come what would have come without: the default, or a sanitizer's report.
void on_fault(int signal, siginfo_t* info, void*) {
  const int error = errno;
  note_ending(Ending::kSignal, name_in(kFaults, signal));
  restore(signal);
  // A fault of the hardware comes again when the handler returns; what was sent does not.
  if (info->si_code <= 0) raise(signal);
  errno = error;
}

void on_wanted_end(int signal) {
  note_ending(Ending::kSignal, name_in(kWanted, signal));
  restore(signal);
  raise(signal);
}

void on_wish(int) {
  const int error = errno;
  [[maybe_unused]] const auto size = write(shared.wish, &kFile, 1);
  errno = error;
}

// A signal that the process was started with ignored stays ignored.
void handle(int signal, struct sigaction action) {
  sigaction(signal, nullptr, &shared.before[signal]);
  if (shared.before[signal].sa_handler == SIG_IGN) return;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return action;
}

void handle_signals() {
  struct sigaction fault_action {};
  fault_action.sa_sigaction = on_fault;
  fault_action.sa_flags = SA_SIGINFO;
  for (const Fault& fault : kFaults) handle(fault.signal, fault_action);
  for (const Fault& wanted : kWanted) handle(wanted.signal, action_of(on_wanted_end));
  handle(SIGUSR1, action_of(on_wish));
}

void restore_signals() {
  for (const Fault& fault : kFaults) restore(fault.signal);
  for (const Fault& wanted : kWanted) restore(wanted.signal);
  restore(SIGUSR1);
}

bool is_fault(const Flight& flight) {
  for (const Fault& fault : kFaults) {
    if (flight.reason == fault.name) return true;
  }
  return false;
}

std::string place_of(const Flight& flight) {
  return "rank " + (flight.rank ? std::to_string(*flight.rank) : "?") + " on " + flight.host;
}

/// The child's life.
class Child {
 public:
  Child(const Memory& memory, int wishes, int written)
      : memory_(memory), wishes_(wishes), written_(written) {}

  [[noreturn]] void run() {
    char letter = 0;
    while (true) {
      const ssize_t size = ::read(wishes_, &letter, 1);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      Flight flight = read(memory_);
      // It was asked for before.
      if (flight.ending == Ending::kInOrder) flight.ending = Ending::kRunning;
      file_written_ = write_file(flight) || file_written_;
      [[maybe_unused]] const auto told = write(written_, &kWritten, 1);
    }
    process_ended();
    _exit(0);
  }

 private:
  void process_ended() {
    Flight flight = read(memory_);
    if (flight.ending == Ending::kInOrder) return;
    const bool silent = flight.ending == Ending::kRunning;
    if (flight.ending == Ending::kSignal && !is_fault(flight)) {
      if (flight.reason == kTold) write_file(flight);
      return;
    }
    if (silent) {
      flight.ending = Ending::kKilled;
      flight.reason = "killed without a word (SIGKILL, or the end of its memory)";
    }
    // The line first: who killed the process may be about to kill this one.
    if (silent || flight.ending == Ending::kSignal) {
      say("error: " + place_of(flight) + ": " + (silent ? "" : "ended by ") + flight.reason +
          ", last: " + standing_text(flight));
    }
    if (silent || flight.ending == Ending::kSignal || !file_written_) write_file(flight);
  }

  std::string file_of(const Flight& flight) const {
    const std::string folder = memory_.folder.get();
    if (folder.empty()) return {};
    return folder + "/" + flight.program + "-rank-" +
           (flight.rank ? std::to_string(*flight.rank) : "unknown") + ".flight.json";
  }

  bool write_file(const Flight& flight) {
    const std::string file = file_of(flight);
    if (file.empty()) return true;
    try {
      write_json(file, to_json(flight), Existing::kReplace);
      return true;
    } catch (const std::exception& error) {
      say("warning: " + place_of(flight) + ": what it did last could not be kept: " + error.what());
      return false;
    }
  }

  void say(const std::string& text) {
    const std::string line = text + "\n";
    [[maybe_unused]] const auto size = write(STDERR_FILENO, line.data(), line.size());
  }

  const Memory& memory_;
  int wishes_, written_;
  bool file_written_ = false;
};

// Libraries may end a process by exit(), with a page of their own.
void on_exit() { note_ending(Ending::kError, "a library ended the process"); }

/// What the child keeps of the process: its record, standard error and its ends of the pipes.
[[noreturn]] void become_child(Memory& memory, int wishes, int written) {
  shared.memory = nullptr;
  shared.wish = -1;
  setsid();  // a Ctrl-C is meant for the process, whose end this one tells of
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM})
    ::signal(signal, SIG_IGN);
  for (const Fault& fault : kFaults) ::signal(fault.signal, SIG_DFL);
  prctl(PR_SET_NAME, "flight-record");
  std::array<int, 3> wanted = {STDERR_FILENO, wishes, written};
  std::sort(wanted.begin(), wanted.end());
  int from = 0;
  for (const int keep : wanted) {
    if (keep > from) close_range(static_cast<unsigned>(from), static_cast<unsigned>(keep) - 1, 0);
    from = keep + 1;
  }
  close_range(static_cast<unsigned>(from), ~0u, 0);
  Child(memory, wishes, written).run();
}

}  // namespace

CrashReporter::CrashReporter(Recorder& recorder) {
  Memory* const memory = recorder.memory();
  int wishes[2], written[2];
  if (!memory || pipe2(wishes, O_CLOEXEC) != 0) return;
  if (pipe2(written, O_CLOEXEC) != 0) {
    close(wishes[0]);
    close(wishes[1]);
    return;
  }
  const pid_t child = fork();
  if (child == 0) become_child(*memory, wishes[0], written[1]);
  close(wishes[0]);
  close(written[1]);
  if (child < 0) {
    close(wishes[1]);
    close(written[0]);
    return;
  }
  shared.wish = wishes[1];
  shared.written = written[0];
  shared.child = child;
  shared.memory = memory;
  handle_signals();
  std::atexit(on_exit);
}

CrashReporter::~CrashReporter() {
  Memory* const memory = shared.memory;
  if (!memory) return;
  memory->ending = static_cast<std::uint8_t>(Ending::kInOrder);
  restore_signals();
  shared.memory = nullptr;
  close(shared.wish.exchange(-1));
  while (waitpid(shared.child, nullptr, 0) < 0 && errno == EINTR) {
  }
  close(shared.written.exchange(-1));
}

void note_ending(Ending ending, std::string_view reason) noexcept {
  Memory* const memory = shared.memory;
  if (!memory) return;
  if (ending == Ending::kSignal && memory->ending != static_cast<std::uint8_t>(Ending::kRunning))
    return;
  memory->reason.set(reason);
  memory->ending = static_cast<std::uint8_t>(ending);
}

void report_failure(Ending ending, std::string_view reason) {
  note_ending(ending, reason);
  if (!shared.memory || write(shared.wish, &kFile, 1) != 1) return;
  pollfd answer{shared.written, POLLIN, 0};
  poll(&answer, 1, kWrittenWithinMs);
}

}  // namespace hios::flight
