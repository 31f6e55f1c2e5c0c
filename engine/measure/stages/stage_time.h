#pragma once

#include <cstddef>

#include "engine/measure/protocol.h"

namespace hios {

/// What is known of time before a batch of stages is swept. In seconds.
struct BatchTime {
  double left_s = 0;        ///< until the limit for all stages
  double sweep_s = 0;       ///< one sweep over the batch
  double warmup_s = 0;      ///< of this batch, since devices were idle while it was made
  double coming_s = 0;      ///< to make and warm up each batch behind it, as far as that is known
  std::size_t batches = 1;  ///< left, this one among them
  double settle_s = 0;      ///< for sweeps of all batches until they settle
};

/// How long the batch is swept: as often as `wanted` says where time is enough for that in all
/// batches; else as often as its share allows, but ten times at least, so that where not all
/// batches fit, the first ones do; 0 iterations where not even this one does.
Protocol protocol_of_batch(const Protocol& wanted, const BatchTime& time);

/// What a device that was idle for `idle_s` is warmed up for: clocks hold for a moment.
double warmup_after(double idle_s, const Protocol& wanted);

}  // namespace hios
