#pragma once

#include <atomic>
#include <cstddef>

namespace hios {

/// A limit on how fast loads from stores end, for machines that are emulated.
class LoadPace {
 public:
  virtual ~LoadPace() = default;
  /// Returns when the load of the schedule's lane may end, or soon after `stop` is set. Called by
  /// the lane's thread, at the load's start.
  virtual void load(std::size_t lane, std::size_t index, const std::atomic<bool>& stop) = 0;
  /// Lets time pass for a main thread that waits for loads or messages.
  virtual void idle() = 0;
  /// Says whether the next inferences find all parameters there, those that the schedule reads in
  /// place included; first false.
  virtual void all_loaded(bool yes) = 0;
};

}  // namespace hios
