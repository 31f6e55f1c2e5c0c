#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/run/rank_context.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Some stages made ready to be timed as they run: groups concurrent on their core shares, inputs
/// just produced, weights cold. Used by the main thread only.
class StageBatch {
 public:
  /// The context's references outlive the batch; no message is sent. At least `cold_bytes` bytes
  /// are touched between two runs of an operator. Throws InputError where the backend does not
  /// support an operator, RunError where memory is short.
  StageBatch(const RankContext& rank, std::span<const Stage> stages, Bytes cold_bytes);
  ~StageBatch();

  /// Runs every stage once, in topological order of their first operators, and writes their times
  /// in ms by index, on the clock of the rank or of its asynchronous device. Returns the sum.
  double sweep(std::span<double> ms);

  /// A bound operator of the batch, which holds its weights.
  struct Bound {
    OpId op;
    CoreShare share;
    std::unique_ptr<BoundOperator> bound;
  };
  /// Moves all operators out of the batch, which can only be destroyed then.
  std::vector<Bound> take_operators();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
