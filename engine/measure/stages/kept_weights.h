#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/measure/stages/stage_batch.h"
#include "hios/base/error.h"

namespace hios {

/// Keeps weights on a device from one batch of stages to the next, as long as memory allows. A
/// backend keeps weights while an operator that was bound with them lives, and drawing those of a
/// large network again takes longer than measuring with them: so one operator of each kind that a
/// batch has bound lives on here. It never runs again; the tensors that it was bound to are gone.
class KeptWeights {
 public:
  void keep(std::vector<StageBatch::Bound> operators);
  /// Makes a batch; where it finds no memory, once more without what is kept, and keeps nothing
  /// from then on. Throws what StageBatch's constructor throws.
  template <class... Arguments>
  std::unique_ptr<StageBatch> make_batch(Arguments&&... arguments) {
    try {
      return std::make_unique<StageBatch>(arguments...);
    } catch (const RunError&) {
      if (operators_.empty()) throw;
    }
    operators_.clear();
    keeps_ = false;
    return std::make_unique<StageBatch>(arguments...);
  }

 private:
  using Kind =
      std::pair<std::size_t, int>;  // the operator, and its threads: layouts differ by these
  std::map<Kind, std::unique_ptr<BoundOperator>> operators_;
  bool keeps_ = true;
};

}  // namespace hios
