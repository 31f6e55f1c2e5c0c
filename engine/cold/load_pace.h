#pragma once

#include <cstddef>

namespace hios {

/// A limit on how fast loads from stores end, for machines that are emulated.
class LoadPace {
 public:
  virtual ~LoadPace() = default;
  /// Returns when the load of the schedule's lane may end. Called by the lane's thread, at the
  /// load's start.
  virtual void load(std::size_t lane, std::size_t index) = 0;
  /// Lets time pass for a main thread that waits for loads or messages.
  virtual void idle() = 0;
};

}  // namespace hios
