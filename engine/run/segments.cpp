#include "engine/run/segments.h"

namespace hios {

std::vector<Segment> cut_segments(std::span<const Step> steps) {
  std::vector<Segment> segments;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (!std::holds_alternative<Compute>(steps[step])) continue;
    if (segments.empty() || segments.back().end != step) segments.push_back({step, step});
    segments.back().end = step + 1;
  }
  return segments;
}

}  // namespace hios
