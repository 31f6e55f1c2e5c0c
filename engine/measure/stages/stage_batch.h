#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// A handful of stages made ready to be timed the way they run: groups concurrent on their core
/// shares, inputs just produced, weights cold. Used by the main thread only.
class StageBatch {
 public:
  /// All arguments outlive the batch, apart from `stages`. `cold_bytes`: between two runs of an
  /// operator at least as many bytes are touched. Throws InputError where the backend does not
  /// support an operator, RunError where memory is short.
  StageBatch(const CoarseGraph& coarse, const Model& model, Backend& backend, TensorSource& source,
             std::span<const Stage> stages, Bytes cold_bytes);
  ~StageBatch();

  /// Runs every stage once, in topological order of their first operators, and writes their times
  /// in ms by index, on the clock of what runs them. Returns the sum.
  double sweep(std::span<double> ms);

  /// An operator of the batch, for those who want what it holds.
  struct Bound {
    OpId op;
    CoreShare share;
    std::unique_ptr<BoundOperator> bound;
  };
  /// All of them; the batch can only be destroyed then.
  std::vector<Bound> take_operators();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
