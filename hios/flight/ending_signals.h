#pragma once

#include <signal.h>

#include <array>
#include <string>
#include <string_view>

#include "hios/flight/flight.h"

/// The signals that end a process which has no handler of its own for them.
namespace hios::flight {

/// The report of a process that ended by a signal.
enum class SignalReport {
  kLineAndFile,
  kFile,     ///< a launcher ends the remaining ranks so: their records are wanted, no lines
  kNothing,  ///< somebody wanted the end, or nobody reads the output any more (`| head`)
};

struct EndingSignal {
  int number;
  /// True if an instruction of the process causes it, which occurs again if a handler returns.
  bool fault;
  SignalReport report;
  const char* text;  ///< its name, and its usual cause where there is one
};

/// All of them but SIGKILL, which nobody can handle, SIGUSR1, which requests a file, SIGSTKFLT,
/// which no system sends, and the real-time signals.
inline constexpr std::array<EndingSignal, 20> kEndingSignals = {{
    {SIGSEGV, true, SignalReport::kLineAndFile, "SIGSEGV: it used memory that it does not have"},
    {SIGBUS, true, SignalReport::kLineAndFile,
     "SIGBUS: memory, or the disk that holds it, is gone"},
    {SIGFPE, true, SignalReport::kLineAndFile, "SIGFPE: an impossible calculation"},
    {SIGILL, true, SignalReport::kLineAndFile, "SIGILL: an instruction this processor lacks"},
    {SIGABRT, true, SignalReport::kLineAndFile, "SIGABRT: it gave up"},
    {SIGTERM, false, SignalReport::kFile, kAskedToEnd},
    {SIGINT, false, SignalReport::kNothing, "SIGINT"},
    {SIGHUP, false, SignalReport::kNothing, "SIGHUP"},
    {SIGPIPE, false, SignalReport::kNothing, "SIGPIPE"},
    {SIGXCPU, false, SignalReport::kLineAndFile,
     "SIGXCPU: it used more processor time than its limit"},
    {SIGXFSZ, false, SignalReport::kLineAndFile, "SIGXFSZ: a file grew beyond its limit"},
    {SIGSYS, false, SignalReport::kLineAndFile, "SIGSYS: a system call that is not permitted"},
    {SIGTRAP, false, SignalReport::kLineAndFile, "SIGTRAP: a breakpoint without a debugger"},
    {SIGQUIT, false, SignalReport::kLineAndFile, "SIGQUIT"},
    {SIGUSR2, false, SignalReport::kLineAndFile, "SIGUSR2"},
    {SIGALRM, false, SignalReport::kLineAndFile, "SIGALRM"},
    {SIGVTALRM, false, SignalReport::kLineAndFile, "SIGVTALRM"},
    {SIGPROF, false, SignalReport::kLineAndFile, "SIGPROF"},
    {SIGIO, false, SignalReport::kLineAndFile, "SIGIO"},
    {SIGPWR, false, SignalReport::kLineAndFile, "SIGPWR: the power fails"},
}};

/// Returns the row of a signal; null: it has none. Handlers may call it.
constexpr const EndingSignal* find_signal(int number) noexcept {
  for (const EndingSignal& signal : kEndingSignals) {
    if (signal.number == number) return &signal;
  }
  return nullptr;
}

/// Returns the row whose text is `text`; null: none has it.
constexpr const EndingSignal* find_signal(std::string_view text) noexcept {
  for (const EndingSignal& signal : kEndingSignals) {
    if (text == signal.text) return &signal;
  }
  return nullptr;
}

/// Returns the text of any signal: "SIGUSR2", "signal 37".
inline std::string signal_text(int number) {
  const EndingSignal* const signal = find_signal(number);
  return signal ? signal->text : "signal " + std::to_string(number);
}

}  // namespace hios::flight
