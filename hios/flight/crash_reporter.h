#pragma once

#include <string_view>

#include "hios/flight/recorder.h"

/// Who speaks for a process that was killed: a child that it makes before anything else, and that
/// shares the record of what it did last.
namespace hios::flight {

/// While it lives, a child process waits for the end of this one. Where that ends by SIGKILL, or by
/// a signal that is its own fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT), the child prints one
/// line to standard error that names rank, host and what was done last; then, as after an error or
/// a time-out, it writes the record as a file, `PROGRAM-rank-R.flight.json`, in place of an earlier
/// one. SIGUSR1 has the file written while the process runs on. SIGTERM, SIGINT and SIGHUP end the
/// process as they do without this, and nothing is said, since somebody wanted it; after SIGTERM,
/// by which a launcher ends the ranks that are left, the file is written all the same, unless the
/// process ended in order.
///
/// One in a process, made by the main thread before any other thread and before MPI: the child is a
/// copy of the process that runs nothing but this. It does not outlive the process by more than the
/// time of writing, and it keeps no file of it open but standard error. Where no child can be made,
/// nobody speaks, and nothing fails.
class CrashReporter {
 public:
  explicit CrashReporter(Recorder& recorder);
  /// The process ends in order.
  ~CrashReporter();
  CrashReporter(const CrashReporter&) = delete;
  CrashReporter& operator=(const CrashReporter&) = delete;
};

/// Says why the process is about to end, if it has a CrashReporter. May be called by a signal
/// handler. A signal replaces only what a signal said before.
void note_ending(Ending ending, std::string_view reason) noexcept;

/// The same for an error or a time-out, and waits until the file is written (some seconds at most):
/// what comes next may end the process in no order. Not for signal handlers; any thread.
void report_failure(Ending ending, std::string_view reason);

}  // namespace hios::flight
