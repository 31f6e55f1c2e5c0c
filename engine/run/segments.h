#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/run/plan.h"

namespace hios {

/// Stages with no message step between them, so that a device can be given all of them at once.
struct Segment {
  std::size_t first = 0;  ///< index of its first step
  std::size_t end = 0;    ///< behind its last
  bool operator==(const Segment&) const = default;
};

/// The maximal runs of Compute steps, in order.
std::vector<Segment> cut_segments(std::span<const Step> steps);

/// REQUIRES: a Compute step.
inline std::size_t stage_of(const Step& step) { return std::get<Compute>(step).stage; }

}  // namespace hios
