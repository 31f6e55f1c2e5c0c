#include "engine/measure/stages/stage_time.h"

#include <algorithm>

namespace hios {
namespace {

constexpr int kFewestStageSamples = 10;

}  // namespace

Protocol protocol_of_batch(const Protocol& wanted, const BatchTime& time) {
  Protocol protocol{.warmup = 0, .warmup_s = time.warmup_s, .iterations = 0, .stop = wanted.stop};
  const int fewest = std::min(kFewestStageSamples, wanted.iterations);
  const double alone_s = time.left_s - time.warmup_s;
  if (alone_s < time.sweep_s * fewest) return protocol;
  const auto batches = static_cast<double>(time.batches);
  const double share_s = std::max(0.0, alone_s - (batches - 1) * time.coming_s) / batches;
  // If a sweep is too short for the clock, all wanted sweeps are affordable.
  const double affordable = time.sweep_s > 0 ? share_s / time.sweep_s : wanted.iterations;
  protocol.iterations = static_cast<int>(std::clamp<double>(affordable, fewest, wanted.iterations));
  const double spare_s = share_s - time.sweep_s * protocol.iterations;
  protocol.settle_s = std::max(0.0, std::min(time.settle_s / batches, spare_s));
  return protocol;
}

}  // namespace hios
