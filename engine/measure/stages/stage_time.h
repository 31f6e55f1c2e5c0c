#pragma once

#include <cstddef>

#include "engine/measure/protocol.h"

namespace hios {

/// The times that are known before a batch of stages is swept, in seconds.
struct BatchTime {
  double left_s = 0;        ///< until the limit for all stages
  double sweep_s = 0;       ///< one sweep over the batch
  double warmup_s = 0;      ///< for this batch, since devices were idle while it was made
  double coming_s = 0;      ///< to make and warm up each later batch, as far as that is known
  std::size_t batches = 1;  ///< left, including this one
  double settle_s = 0;      ///< for sweeps of all batches until they settle
};

/// Returns the number of sweeps over the batch: that of `wanted` if time suffices for it in all
/// batches; else that which its share of the time allows, but at least ten, so that the first
/// batches are measured if not all can be; 0 if there is no time for this batch.
Protocol protocol_of_batch(const Protocol& wanted, const BatchTime& time);

}  // namespace hios
