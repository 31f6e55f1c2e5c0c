#pragma once

namespace hios {

/// When a stage of a rank ran, in ms from the start of the iteration on the clock of what ran it:
/// the rank's own, or that of an asynchronous device, which starts when the device takes up the
/// iteration.
struct StageClock {
  double awaited_ms = 0;  ///< began to wait for inputs
  double start_ms = 0;
  double end_ms = 0;
};

}  // namespace hios
