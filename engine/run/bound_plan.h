#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "engine/run/operator_clocks.h"
#include "engine/run/plan.h"
#include "engine/run/step_progress.h"
#include "hios/graph/fusion/coarsen.h"
#include "mpi/transport.h"

namespace hios {

/// A stage made ready: its operators bound, each group with its core share.
struct BoundStage {
  std::vector<BoundGroup> groups;
  std::vector<CoreShare> shares;
};

/// A rank's plan made ready on its backend: the memory of its tensors and of the model's input, and
/// every operator bound there, once for each place that tensors take in turn. Used by the main
/// thread.
class BoundPlan {
 public:
  /// What is noted of operators that have ended when run() returns. Outlives the plan.
  struct Notes {
    StepProgress& progress;
    OperatorClocks* clocks = nullptr;  ///< null: nobody times operators
  };
  /// All arguments outlive this. The model's input is the source's. Throws InputError where the
  /// backend does not support an operator (operator and reason) or its memory cannot hold the plan,
  /// RunError where memory is short all the same.
  BoundPlan(const CoarseGraph& coarse, const Model& model, const RankPlan& plan, Backend& backend,
            TensorSource& source, const Notes& notes);

  const RankPlan& plan() const { return plan_; }
  Backend& backend() const { return backend_; }
  /// How many places tensors that travel take in turn; `place` is one of them.
  std::size_t places() const { return stages_.size(); }
  std::span<const BoundStage> stages(std::size_t place) const { return stages_[place]; }

  /// Where an operator's output lies. REQUIRES: the plan has a slot for it.
  std::byte* tensor(OpId op, std::size_t place = 0) const {
    return arena_->data() + plan_.slot(op).offset_at(place);
  }
  /// A copy of it. REQUIRES: nothing runs.
  std::vector<float> values(OpId op, std::size_t place = 0) const;
  /// The model's input; null where this rank has no operators.
  Buffer* input() const { return input_.get(); }

  /// The plan's messages between these buffers.
  std::vector<mpi::Message> sends(std::size_t place) const;
  std::vector<mpi::Message> receives(std::size_t place) const;

 private:
  void allocate(TensorSource& source);
  void bind(TensorSource& source);
  BoundOperator* bind_one(OpId op, std::size_t stage, std::size_t place, const CoreShare& share,
                          TensorSource& source);
  const std::byte* tensor_of_input(OpId op, TensorId tensor, std::size_t place) const;
  std::vector<mpi::Message> messages(std::span<const PlannedMessage> planned,
                                     std::size_t place) const;

  const CoarseGraph& coarse_;
  const Model& model_;
  const RankPlan& plan_;
  Backend& backend_;
  Notes notes_;
  // In the order in which they are made; operators go before the memory that they use.
  std::unique_ptr<Buffer> input_, arena_;
  std::vector<std::unique_ptr<BoundOperator>> operators_;
  std::vector<std::vector<BoundStage>> stages_;  // by place
};

}  // namespace hios
