#pragma once

#include <optional>
#include <string>

#include "mpi/transport.h"

namespace hios::cli {

/// While it lives, the first SIGINT (Ctrl-C) or SIGTERM (scancel, a batch system's time limit, the
/// launcher of the ranks) asks the work to end with what it has. A second Ctrl-C ends the program
/// at once, as it would have without this; further SIGTERM say no more than the first. One at a
/// time, made and destroyed by the main thread. A signal that the program was started with ignored
/// (SIGINT of a background job) stays ignored.
class StopRequest {
 public:
  /// What happens where the work takes too long to end.
  struct Grace {
    double seconds;    ///< from the request on
    std::string line;  ///< printed before the process ends with the signal's exit status
  };

  StopRequest() : StopRequest(std::nullopt) {}
  /// Without a grace the work takes the time it takes. With one, a thread waits for it.
  explicit StopRequest(std::optional<Grace> grace);
  ~StopRequest();  ///< signals end the program again
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Cheap; any thread may ask. The answer outlives the request, until the next one is made.
  static bool asked();
  /// The signal that asked; 0: none.
  static int signal();
};

/// The same for a job: asks all ranks, of which a signal may have reached a few only. Collective.
int signal_of_any(mpi::Transport& transport);

/// For a rank that measures: 2 s to end its iteration and to write what it has, so that all ranks
/// are gone 3 s after the signal. A launcher may wait for less: Open MPI's ends its ranks 1 s after
/// it has told them.
StopRequest::Grace grace_of(const mpi::Transport& transport, const std::string& work);

/// The exit status of a program that was ended by a signal, results written or not: 130 for SIGINT,
/// 143 for SIGTERM.
int exit_status_of_signal(int signal);

/// "SIGTERM".
std::string signal_name(int signal);

}  // namespace hios::cli
