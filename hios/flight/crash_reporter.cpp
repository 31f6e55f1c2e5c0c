#include "hios/flight/crash_reporter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/flight/memory.h"

// A pair of sockets. The process sends a letter to request a file. Its end, of whatever kind,
// closes its socket, which the child notices at once. The child answers only a request that the
// process waits for. Nobody waits for a full socket or one whose other end is closed.
namespace hios::flight {
namespace {

constexpr char kSnapshot = 's';  // no answer: it is sent by a signal handler
constexpr char kFailed = 'f', kWritten = 'w';
constexpr int kWrittenWithinMs = 3000;

struct Fault {
  int signal;
  const char* name;
};
constexpr std::array<Fault, 5> kFaults = {
    {{SIGSEGV, "SIGSEGV: it used memory that it does not have"},
     {SIGBUS, "SIGBUS: memory, or the disk that holds it, is gone"},
     {SIGFPE, "SIGFPE: an impossible calculation"},
     {SIGILL, "SIGILL: an instruction this processor lacks"},
     {SIGABRT, "SIGABRT: it gave up"}}};
constexpr std::array<Fault, 3> kWanted = {
    {{SIGTERM, kAskedToEnd}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}}};

/// The one reporter's state for signal handlers and note_ending(); never destroyed.
struct Shared {
  std::atomic<Memory*> memory = nullptr;
  std::atomic<int> socket = -1;
  std::atomic<pid_t> child = 0;
  struct sigaction before[NSIG] = {};
};
Shared shared;

bool send_letter(int socket, char letter) {
  return send(socket, &letter, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

void restore(int signal) { sigaction(signal, &shared.before[signal], nullptr); }

template <std::size_t N>
const char* name_in(const std::array<Fault, N>& faults, int signal) {
  for (const Fault& fault : faults) {
    if (fault.signal == signal) return fault.name;
  }
  return nullptr;
}

// Records the signal and passes it on to the previous handler: the default, or a sanitizer's.
void on_fault(int signal, siginfo_t* info, void*) {
  const int error = errno;
  note_ending(Ending::kSignal, name_in(kFaults, signal));
  restore(signal);
  // A signal of the hardware occurs again when the handler returns; one that was sent does not.
  if (info->si_code <= 0) raise(signal);
  errno = error;
}

void on_wanted_end(int signal) {
  note_ending(Ending::kSignal, name_in(kWanted, signal));
  restore(signal);
  raise(signal);
}

void on_file_request(int) {
  const int error = errno;
  send_letter(shared.socket, kSnapshot);
  errno = error;
}

// Installs a handler, unless the process was started with the signal ignored.
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

/// Provides a stack for handlers, as an overflowed one has no room, unless a sanitizer did.
void provide_signal_stack() {
  static std::array<char, 64 << 10> room;
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  const stack_t mine{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
  sigaltstack(&mine, nullptr);
}

void handle_signals() {
  provide_signal_stack();
  struct sigaction fault_action {};
  fault_action.sa_sigaction = on_fault;
  fault_action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const Fault& fault : kFaults) handle(fault.signal, fault_action);
  for (const Fault& wanted : kWanted) handle(wanted.signal, action_of(on_wanted_end));
  handle(SIGUSR1, action_of(on_file_request));
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

std::string rank_and_host(const Flight& flight) {
  return "rank " + (flight.rank ? std::to_string(*flight.rank) : "?") + " on " + flight.host;
}

/// The main loop of the child process.
class Child {
 public:
  Child(const Memory& memory, int socket) : memory_(memory), socket_(socket) {}

  [[noreturn]] void run() {
    char letter = 0;
    while (true) {
      const ssize_t size = recv(socket_, &letter, 1, 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      Flight flight = read(memory_);
      // The file was requested before the end.
      if (flight.ending == Ending::kInOrder) flight.ending = Ending::kRunning;
      const bool written = write_file(flight);
      if (letter != kFailed) continue;
      failure_written_ = written;
      send_letter(socket_, kWritten);
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
      if (flight.reason == kAskedToEnd) write_file(flight);
      return;
    }
    if (silent) {
      flight.ending = Ending::kKilled;
      flight.reason = "killed without a message (SIGKILL, or out of memory)";
    }
    // The line comes first: the killer of the process may be about to kill this one.
    if (silent || flight.ending == Ending::kSignal) {
      say("error: " + rank_and_host(flight) + ": " + (silent ? "" : "ended by ") + flight.reason +
          ", last: " + standing_text(flight));
    }
    if (silent || flight.ending == Ending::kSignal || !failure_written_) write_file(flight);
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
      say("warning: " + rank_and_host(flight) +
          ": its last events could not be written: " + error.what());
      return false;
    }
  }

  void say(const std::string& text) {
    const std::string line = text + "\n";
    [[maybe_unused]] const auto size = write(STDERR_FILENO, line.data(), line.size());
  }

  const Memory& memory_;
  int socket_;
  bool failure_written_ = false;
};

// Libraries may end a process by exit(), with messages of their own.
void on_exit() { note_ending(Ending::kError, "a library ended the process"); }

/// Closes the descriptors that the child does not use: the reader of a pipe among them would wait
/// for the child, too.
void close_all_but(int socket) {
  std::array<int, 2> wanted = {STDERR_FILENO, socket};
  std::sort(wanted.begin(), wanted.end());
  const auto last = static_cast<unsigned>(sysconf(_SC_OPEN_MAX));
  const auto close_between = [&](unsigned from, unsigned to) {
    // Kernels before 5.9 have no close_range, and some containers refuse it.
    if (from > to || close_range(from, to, 0) == 0) return;
    for (unsigned each = from; each <= std::min(to, std::min(last, 1u << 16)); ++each)
      close(static_cast<int>(each));
  };
  unsigned from = 0;
  for (const int keep : wanted) {
    if (keep > 0) close_between(from, static_cast<unsigned>(keep) - 1);
    from = static_cast<unsigned>(keep) + 1;
  }
  close_between(from, ~0u);
}

/// Runs the child, which keeps only the record, standard error and its socket.
[[noreturn]] void become_child(Memory& memory, int socket, int process_socket) {
  shared.memory = nullptr;
  close(process_socket);  // its closing by the process signals the end of the process
  setsid();               // a Ctrl-C is meant for the process, not for its reporter
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM})
    ::signal(signal, SIG_IGN);
  for (const Fault& fault : kFaults) ::signal(fault.signal, SIG_DFL);
  prctl(PR_SET_NAME, "flight-record");
  close_all_but(socket);
  Child(memory, socket).run();
}

/// Waits for the child, which ends when the process does. Kills a child that cannot end (its
/// folder's file system hangs, or somebody has stopped it).
void end_child(pid_t child) {
  for (int waited_ms = 0; waited_ms < kWrittenWithinMs; ++waited_ms) {
    const pid_t ended = waitpid(child, nullptr, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return;
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Moves a descriptor above 0, 1 and 2: a process may have been started without those.
int above_standard(int descriptor) {
  if (descriptor > STDERR_FILENO) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(descriptor);
  return moved;
}

}  // namespace

CrashReporter::CrashReporter(Recorder& recorder) {
  Memory* const memory = recorder.memory();
  int ends[2];
  if (!memory || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  for (int& end : ends) end = above_standard(end);
  const pid_t child = fork();
  if (child == 0) become_child(*memory, ends[1], ends[0]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return;
  }
  shared.socket = ends[0];
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
  close(shared.socket.exchange(-1));
  end_child(shared.child);
}

void note_ending(Ending ending, std::string_view reason) noexcept {
  Memory* const memory = shared.memory;
  if (!memory) return;
  const auto before = static_cast<Ending>(memory->ending.load());
  const bool first = before == Ending::kRunning || before == Ending::kSignal;
  if (ending == Ending::kSignal && !first) return;
  memory->reason.set(reason);
  memory->ending = static_cast<std::uint8_t>(ending);
}

void report_failure(Ending ending, std::string_view reason) {
  note_ending(ending, reason);
  if (!shared.memory || !send_letter(shared.socket, kFailed)) return;
  pollfd answer{shared.socket, POLLIN, 0};
  poll(&answer, 1, kWrittenWithinMs);
}

}  // namespace hios::flight
