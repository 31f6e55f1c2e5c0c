#include "engine/measure/stages/kept_weights.h"

#include "hios/base/error.h"

namespace hios {

std::unique_ptr<StageBatch> KeptWeights::make_batch(const RankContext& rank,
                                                    std::span<const Stage> stages,
                                                    Bytes cold_bytes) {
  try {
    return std::make_unique<StageBatch>(rank, stages, cold_bytes);
  } catch (const RunError&) {
    if (operators_.empty()) throw;
  }
  operators_.clear();
  keeps_ = false;
  return std::make_unique<StageBatch>(rank, stages, cold_bytes);
}

void KeptWeights::keep(std::vector<StageBatch::Bound> operators) {
  if (!keeps_) return;
  for (StageBatch::Bound& bound : operators) {
    operators_.try_emplace({bound.op.index(), bound.share.threads}, std::move(bound.bound));
  }
}

}  // namespace hios
