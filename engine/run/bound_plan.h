#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cold/store_source.h"
#include "engine/run/clocks/operator_clocks.h"
#include "engine/run/clocks/step_progress.h"
#include "engine/run/plan/plan.h"
#include "engine/run/rank_context.h"
#include "mpi/transport.h"

namespace hios {

/// A stage made ready: its operators bound, each group with its core share.
struct BoundStage {
  std::vector<BoundGroup> groups;
  std::vector<CoreShare> shares;
};

/// A rank's plan made ready on its backend: the memory of its tensors and of the model's input, and
/// every operator bound there, once for each buffer index. Used by the main thread.
class BoundPlan {
 public:
  /// Where the plan's operators note their runs, if they have ended when run() returns. Outlives
  /// the plan.
  struct Notes {
    StepProgress& progress;
    OperatorClocks* clocks = nullptr;  ///< null: nobody times operators
  };
  /// The context's references and the plan outlive this. The model's input is the source's. Throws
  /// InputError where the backend does not support an operator (operator and reason) or its memory
  /// cannot hold the plan, RunError where memory is short all the same.
  BoundPlan(const RankContext& rank, const RankPlan& plan, const Notes& notes);

  const RankPlan& plan() const { return plan_; }
  std::span<const BoundStage> stages(std::size_t buffer) const { return stages_[buffer]; }

  /// Returns the address of an operator's output. REQUIRES: the plan has a slot for it.
  std::byte* tensor(OpId op, std::size_t buffer = 0) const {
    const Slot& slot = plan_.slot(op);
    return memory_of(slot) + slot.offset_at(buffer);
  }
  /// Returns a copy of an operator's output. REQUIRES: nothing runs.
  std::vector<float> values(OpId op, std::size_t buffer = 0) const;
  /// Returns the memory in which a bound operator reads its parameters, in all their layouts.
  /// Throws InputError where the backend does not show all of it.
  std::vector<std::span<std::byte>> parameter_memory(OpId op) const;
  /// Returns the model's input; null where this rank has no operators.
  Buffer* input() const { return input_.get(); }

  /// Returns the plan's messages between the tensors of a buffer index.
  std::vector<mpi::Message> sends(std::size_t buffer) const;
  std::vector<mpi::Message> receives(std::size_t buffer) const;

 private:
  std::byte* memory_of(const Slot& slot) const {
    return slot.shared ? rank_.shared_arena : arena_->data();
  }
  void check_elements() const;
  void allocate();
  void reserve_parameters();
  void bind();
  /// Returns true if no operator's parameters are asked for after its last buffer is bound.
  bool binds_once() const;
  void forget(OpId op);
  void forget_other_ranks();
  std::unique_ptr<BoundOperator> bound_to(OpId op, std::size_t buffer, const CoreShare& share,
                                          TensorSource& source);
  void bind_never_run();
  BoundOperator* bind_one(OpId op, std::size_t stage, std::size_t buffer, const CoreShare& share);
  const std::byte* tensor_of_input(OpId op, TensorId tensor, std::size_t buffer) const;
  std::vector<mpi::Message> messages(std::span<const PlannedMessage> planned,
                                     std::size_t buffer) const;

  const RankContext rank_;
  const RankPlan& plan_;
  Notes notes_;
  StoreSource store_;
  // In the order in which they are made; operators go before the memory that they use.
  std::unique_ptr<Buffer> input_, arena_;
  std::vector<std::unique_ptr<BoundOperator>> operators_;
  // Operators that never run, but keep parameters in their layouts on this device: those of other
  // ranks that are passed on, in tensors that nothing writes; and those of operators that read in
  // place, which stay overwritten, so that an operator that read them there would show.
  std::unique_ptr<Buffer> no_tensors_;
  std::vector<std::unique_ptr<BoundOperator>> never_run_;
  std::vector<std::vector<BoundStage>> stages_;  // by buffer index
};

}  // namespace hios
