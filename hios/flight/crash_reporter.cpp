#include "hios/flight/crash_reporter.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/json/json_text.h"
#include "hios/flight/descriptors.h"
#include "hios/flight/ending_signals.h"
#include "hios/flight/memory.h"
#include "hios/flight/process_status.h"
#include "hios/flight/record_file.h"

// A pair of sockets. The process sends a letter to request a file. Its end, of whatever kind,
// closes its socket, which the child notices at once. The child answers only a request that the
// process waits for. Nobody waits for a full socket or one whose other end is closed.
//
// The record says how the process ended if it could note that: errors, exit() and signals that have
// a handler. Otherwise the child asks the system, whose answer may be lost on an older kernel.
namespace hios::flight {
namespace {

constexpr char kSnapshot = 's';  // no answer: it is sent by a signal handler
constexpr char kFailed = 'f', kWritten = 'w';
constexpr int kWrittenWithinMs = 3000;

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

// Records the signal and passes it on to the previous handler: the default, or a sanitizer's.
void on_ending_signal(int number, siginfo_t* info, void*) {
  const int error = errno;
  const EndingSignal* const signal = find_signal(number);
  note_ending(Ending::kSignal, signal->text);
  restore(number);
  // A signal of the hardware occurs again when the handler returns; one that was sent does not.
  if (!signal->fault || info->si_code <= 0) raise(number);
  errno = error;
}

void on_file_request(int, siginfo_t*, void*) {
  const int error = errno;
  send_letter(shared.socket, kSnapshot);
  errno = error;
}

using Handler = void (*)(int, siginfo_t*, void*);

void handle(int signal, Handler handler, int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

/// Provides a stack for handlers, as an overflowed one has no room, unless a sanitizer did.
void provide_signal_stack() {
  static std::array<char, 64 << 10> room;
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  const stack_t mine{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
  sigaltstack(&mine, nullptr);
}

// A signal that was ignored when the process started stays so. A handler that is there already is
// replaced, and called in the end, only if the signal is one of faults, after which nothing goes
// on: another one, of a profiler's timer, say, may come often.
void handle_signals() {
  provide_signal_stack();
  for (const EndingSignal& signal : kEndingSignals) {
    struct sigaction& before = shared.before[signal.number];
    sigaction(signal.number, nullptr, &before);
    if (before.sa_handler == SIG_IGN || (!signal.fault && before.sa_handler != SIG_DFL)) continue;
    handle(signal.number, on_ending_signal, signal.fault ? SA_ONSTACK : SA_RESTART);
  }
  sigaction(SIGUSR1, nullptr, &shared.before[SIGUSR1]);
  if (shared.before[SIGUSR1].sa_handler != SIG_IGN) handle(SIGUSR1, on_file_request, SA_RESTART);
}

/// Restores the handlers before, except where a library has replaced ours since.
void restore_signals() {
  const auto restore_ours = [](int signal, Handler ours) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == ours) restore(signal);
  };
  for (const EndingSignal& signal : kEndingSignals) restore_ours(signal.number, on_ending_signal);
  restore_ours(SIGUSR1, on_file_request);
}

std::string rank_and_host(const Flight& flight) {
  return "rank " + (flight.rank ? std::to_string(*flight.rank) : "?") + " on " + flight.host;
}

/// The main loop of the child process.
class Child {
 public:
  Child(const Memory& memory, int socket, const ProcessStatus& process)
      : memory_(memory), socket_(socket), process_(process) {}

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
    if (silent) find_out(flight);
    const SignalReport report = report_of(flight);
    if (report == SignalReport::kNothing) return;
    const bool by_signal = flight.ending == Ending::kSignal;
    // The line comes first: the killer of the process may be about to kill this one.
    if ((silent || by_signal) && report == SignalReport::kLineAndFile) {
      say("error: " + rank_and_host(flight) + ": " + (by_signal ? "ended by " : "") +
          flight.reason + ", last: " + standing_text(flight));
    }
    if (silent || by_signal || !failure_written_)
      write_file(flight, report == SignalReport::kLineAndFile);
  }

  static SignalReport report_of(const Flight& flight) {
    const EndingSignal* const signal =
        flight.ending == Ending::kSignal ? find_signal(flight.reason) : nullptr;
    if (!signal) return SignalReport::kLineAndFile;
    // Among ranks, a peer is gone, whose own reporter names it; this one's record shows the rest.
    const bool peer_is_gone = signal->number == SIGPIPE && flight.ranks.value_or(1) > 1;
    return peer_is_gone ? SignalReport::kFile : signal->report;
  }

  /// Sets the ending of a process that could not note it.
  void find_out(Flight& flight) const {
    const std::optional<int> status = process_.read();
    if (status && WIFEXITED(*status)) {
      flight.ending = Ending::kError;
      flight.reason =
          "exited without a message, with status " + std::to_string(WEXITSTATUS(*status));
    } else if (status && WTERMSIG(*status) != SIGKILL) {
      flight.ending = Ending::kSignal;
      flight.reason = signal_text(WTERMSIG(*status));
    } else {
      flight.ending = Ending::kKilled;
      flight.reason = status ? "killed without a message (SIGKILL, or out of memory)"
                             : "killed (SIGKILL, or out of memory), or exited without a message";
    }
  }

  /// Writes the file. `with_line`: prints a line, once, on a file that cannot be written, or on
  /// one in a folder that nobody has named.
  bool write_file(const Flight& flight, bool with_line = true) {
    const std::string folder = memory_.folder.get(), remedy = memory_.remedy.get();
    const bool own = memory_.own_folder;
    if (folder.empty() && !own) return true;
    const std::string name = flight.program + "-rank-" +
                             (flight.rank ? std::to_string(*flight.rank) : "unknown") +
                             ".flight.json";
    const auto say_once = [&](const std::string& text) {
      if (with_line && !std::exchange(line_printed_, true)) say(text);
    };
    try {
      if (folder.empty()) throw InputError("there is no folder for them");
      if (own) make_own_folder(folder);
      write_record_file(folder, name, to_text(to_json(flight)));
      if (own)
        say_once(rank_and_host(flight) + ": its last events are in " +
                 printable(folder + "/" + name, 4096));
      return true;
    } catch (const std::exception& error) {
      say_once("warning: " + rank_and_host(flight) + ": its last events could not be written: " +
               error.what() + (remedy.empty() ? "" : "; " + remedy));
      return false;
    }
  }

  void say(const std::string& text) {
    const std::string line = text + "\n";
    [[maybe_unused]] const auto size = write(STDERR_FILENO, line.data(), line.size());
  }

  const Memory& memory_;
  int socket_;
  const ProcessStatus& process_;
  bool failure_written_ = false, line_printed_ = false;
};

// Libraries may end a process by exit(), with messages of their own. Memory may have run out.
void note_exit(int status, void*) {
  char reason[64];
  std::snprintf(reason, sizeof reason, "a library ended the process, with status %d",
                status & 0xff);
  note_ending(Ending::kError, reason);
}

/// Runs the child, which keeps only the record, standard error, its socket and the process's
/// status: the reader of a pipe, for example, would wait for the child, too.
[[noreturn]] void become_child(Memory& memory, int socket, int process_socket,
                               const ProcessStatus& process) {
  shared.memory = nullptr;
  close(process_socket);  // its closing by the process signals the end of the process
  setsid();               // a Ctrl-C is meant for the process, not for its reporter
  for (const EndingSignal& signal : kEndingSignals)
    ::signal(signal.number, signal.fault ? SIG_DFL : SIG_IGN);
  ::signal(SIGUSR1, SIG_IGN);
  prctl(PR_SET_NAME, "flight-record");
  close_all_but({STDERR_FILENO, socket, process.stat_descriptor(), process.process_descriptor()});
  Child(memory, socket, process).run();
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

}  // namespace

CrashReporter::CrashReporter(Recorder& recorder) {
  Memory* const memory = recorder.memory();
  int ends[2];
  if (!memory || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  for (int& end : ends) end = above_standard(end);
  // Opened here, since the process may have ended before the child can open it.
  const ProcessStatus process(getpid());
  const pid_t child = fork();
  if (child == 0) become_child(*memory, ends[1], ends[0], process);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return;
  }
  shared.socket = ends[0];
  shared.child = child;
  shared.memory = memory;
  handle_signals();
  ::on_exit(note_exit, nullptr);
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
  // A library's child process that has not yet started another program shares the record, too.
  if (!memory || memory->process != getpid()) return;
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
