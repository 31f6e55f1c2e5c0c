#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/measure/stages/stage_batch.h"

namespace hios {

/// Keeps weights on a device from one batch of stages to the next, as long as memory allows. A
/// backend keeps weights while an operator that was bound with them lives, and making those of a
/// large network again takes longer than measuring with them. So one bound operator of each kind is
/// kept here. It never runs again, since the tensors that it was bound to are gone.
class KeptWeights {
 public:
  void keep(std::vector<StageBatch::Bound> operators);
  /// Makes a batch. Where memory is short, makes it again without the kept weights, and keeps none
  /// from then on. Throws as StageBatch's constructor does.
  std::unique_ptr<StageBatch> make_batch(const RankContext& rank, std::span<const Stage> stages,
                                         Bytes cold_bytes);

 private:
  // The operator, and its threads, by which layouts differ.
  using Kind = std::pair<std::size_t, int>;
  std::map<Kind, std::unique_ptr<BoundOperator>> operators_;
  bool keeps_ = true;
};

}  // namespace hios
