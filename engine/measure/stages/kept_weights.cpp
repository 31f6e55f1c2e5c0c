#include "engine/measure/stages/kept_weights.h"

namespace hios {

void KeptWeights::keep(std::vector<StageBatch::Bound> operators) {
  if (!keeps_) return;
  for (StageBatch::Bound& bound : operators) {
    operators_.try_emplace({bound.op.index(), bound.share.threads}, std::move(bound.bound));
  }
}

}  // namespace hios
