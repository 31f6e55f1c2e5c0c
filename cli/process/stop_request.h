#pragma once

#include <optional>
#include <string>

#include "mpi/transport.h"

namespace hios::cli {

/// A request to stop, by signal. While it exists, the first SIGINT (Ctrl-C), SIGTERM (scancel, a
/// batch system's time limit, the launcher of the ranks), SIGHUP (the terminal or the connection
/// is closed) or SIGUSR2 (which launchers pass on to their ranks, and then wait for them) asks the
/// work to end with its results so far. A second Ctrl-C ends the program at
/// once, which is its default; further ones of the others have no effect. There is one at a time,
/// made and destroyed by the main thread. A signal that was ignored when the program started
/// (SIGINT of a background job, SIGHUP under nohup) stays ignored.
class StopRequest {
 public:
  /// The time that the work may take to end.
  struct Grace {
    double seconds;    ///< from the request on
    std::string line;  ///< printed before the process ends with the signal's exit status
  };

  StopRequest() : StopRequest(std::nullopt) {}
  /// Without a grace the work may take any time. With one, a thread waits for its end.
  explicit StopRequest(std::optional<Grace> grace);
  ~StopRequest();  ///< signals end the program again
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Returns true after a signal. Cheap; any thread may call it. The answer stays after the
  /// destructor, until the next StopRequest is made.
  static bool asked();
  /// Returns the signal that asked; 0: none.
  static int signal();
};

/// Returns the signal that reached any rank of the job, perhaps only some; 0: none. Collective.
int signal_of_any(mpi::Transport& transport);

/// Returns the grace of a rank that measures: 2 s to end its iteration and to write its results, so
/// that all ranks have ended 3 s after the signal. A launcher may wait for less: that of Open MPI 4
/// kills its ranks 1 s after the signal that it sends them, that of Open MPI 5 a quarter of a
/// second.
StopRequest::Grace grace_of(const mpi::Transport& transport, const std::string& work);

/// Returns the exit status of a program that a signal ended, results written or not: 130 for
/// SIGINT, 143 for SIGTERM, 129 for SIGHUP, 140 for SIGUSR2.
int exit_status_of_signal(int signal);

/// Returns the name of a signal: "SIGTERM".
std::string signal_name(int signal);

}  // namespace hios::cli
