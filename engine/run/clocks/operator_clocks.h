#pragma once

#include <deque>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// An operator's time in one iteration, or a statistic over several.
struct OperatorTime {
  OpId op;
  double ms = 0;
  static auto fields(auto& self) { return std::tie(self.op, self.ms); }
};

/// Times operators one by one, on backends whose operators have ended when run() returns. Recording
/// is switched between iterations. While it is off, a run costs one comparison more.
class OperatorClocks {
 public:
  /// Wraps the operator so that its runs are timed while recording. The result refers to this.
  std::unique_ptr<BoundOperator> timed(std::unique_ptr<BoundOperator> bound, OpId op);
  void record(bool on) { recording_ = on; }
  /// Returns the times of the last recorded iteration, in the order of timed().
  std::vector<OperatorTime> times() const { return {times_.begin(), times_.end()}; }

 private:
  bool recording_ = false;
  std::deque<OperatorTime> times_;  // each written by the thread that runs the operator
};

/// Returns the times of the operators that are a stage by themselves: the only ones known where the
/// clock is read around stages.
std::vector<OperatorTime> lone_operators(const std::vector<Stage>& stages,
                                         const std::vector<StageTimes>& times);

}  // namespace hios
