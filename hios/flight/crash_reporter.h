#pragma once

#include <string_view>

#include "hios/flight/recorder.h"

/// Reports for a process that was killed: a child process, made before anything else, that shares
/// the record of the last events.
namespace hios::flight {

/// A child process that waits for the end of this one while the object lives. Unless the process
/// ended in order or by an error of its own, the child prints one line to standard error that names
/// rank, host, the way of the end and the last event: SIGKILL, another signal by its name, or the
/// status of an exit that nobody announced. Then, as after an error, a time-out or a library's
/// exit(), it writes the record as a file, `PROGRAM-rank-R.flight.json`, and replaces an earlier
/// one (hios/flight/record_file.h). On SIGUSR1 it writes the file while the process runs on.
///
/// Some signals end the process without a line. After SIGINT, SIGHUP and SIGPIPE there is no file
/// either, since somebody wanted the end, or nobody reads the output any more. The file is written
/// after SIGTERM, by which a launcher ends the remaining ranks, and after SIGPIPE of one of several
/// ranks, whose peer is gone. Signals that were ignored or
/// handled when the object was made stay so, but for those of faults (SIGSEGV, SIGBUS, SIGFPE,
/// SIGILL, SIGABRT), whose earlier handlers come second.
///
/// One per process, made by the main thread before any other thread and before MPI: the child is a
/// copy of the process that does nothing else. It outlives the process only by the time of writing,
/// and keeps no file of it open but standard error. Where no child can be made, nothing is
/// reported, and nothing fails.
class CrashReporter {
 public:
  explicit CrashReporter(Recorder& recorder);
  /// Marks the process as ended in order.
  ~CrashReporter();
  CrashReporter(const CrashReporter&) = delete;
  CrashReporter& operator=(const CrashReporter&) = delete;
};

/// Records why the process is about to end, if it has a CrashReporter. Signal handlers may call it.
/// A signal replaces only an earlier signal.
void note_ending(Ending ending, std::string_view reason) noexcept;

/// Records an error or a time-out and waits until the file is written (some seconds at most), since
/// the process may end abruptly afterwards. Not for signal handlers; any thread.
void report_failure(Ending ending, std::string_view reason);

}  // namespace hios::flight
