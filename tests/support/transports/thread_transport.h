#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "mpi/transport.h"

/// A job whose ranks are threads of this process: a Transport that tests can delay, silence or
/// kill. It is stricter than MPI where MPI leaves a choice. No message is buffered, so a send ends
/// only when its receive has been posted, and the bytes leave the sender's buffer as late as the
/// contract allows. A caller that overwrites or reads too early gets wrong bytes (and a report of
/// the thread sanitizer).
namespace hios::test {

/// A message that never arrives: the one with index `occurrence` on this triple.
struct LostMessage {
  Rank from;
  Rank to;
  int tag = 0;
  std::size_t occurrence = 0;
};

/// A rank that throws RankDied in the call with index `call` of the transport or its channels.
struct Death {
  Rank rank;
  std::size_t call = 0;
};

struct ThreadOptions {
  std::uint64_t seed = 0;   ///< seed of the delays
  double max_delay_ms = 0;  ///< every message arrives after a random time up to this
  std::optional<LostMessage> lost;
  std::optional<Death> death;
  /// If all ranks wait for each other, all throw Deadlock with the waits of all ranks. Off: they
  /// wait until one aborts or dies, for tests of other detectors.
  bool detect_deadlock = true;
};

class RankDied : public RunError {
  using RunError::RunError;
};
class Deadlock : public RunError {
  using RunError::RunError;
};
/// An error that the other ranks' calls throw once one rank has failed.
class PeerFailed : public RunError {
  using RunError::RunError;
};
/// An error that abort() throws on its caller.
class JobAborted : public RunError {
 public:
  JobAborted(const std::string& text, int exit_status)
      : RunError(text), exit_status_(exit_status) {}
  int exit_status() const { return exit_status_; }

 private:
  int exit_status_;
};

/// Runs the body on `ranks` threads and returns when all have ended. Rethrows the first rank's
/// exception that is not PeerFailed. Once a rank has thrown, the others' calls throw, so none
/// hangs.
void run_ranks(std::size_t ranks, const std::function<void(mpi::Transport&)>& body,
               const ThreadOptions& options = {});

}  // namespace hios::test
