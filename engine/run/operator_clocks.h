#pragma once

#include <deque>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// How long an operator took in one iteration, or over several.
struct OperatorTime {
  OpId op;
  double ms = 0;
  static auto fields(auto& self) { return std::tie(self.op, self.ms); }
};

/// Times operators one by one, on backends whose operators have ended when run() returns. Recording
/// is switched between iterations; while it is off, a run costs a comparison more.
class OperatorClocks {
 public:
  /// The operator, such that its runs are timed while recording. Refers to this.
  std::unique_ptr<BoundOperator> timed(std::unique_ptr<BoundOperator> bound, OpId op);
  void record(bool on) { recording_ = on; }
  /// Of the last recorded iteration, in the order of timed().
  std::vector<OperatorTime> times() const { return {times_.begin(), times_.end()}; }

 private:
  bool recording_ = false;
  std::deque<OperatorTime> times_;  // each written by the thread that runs it
};

/// The operators that are a stage by themselves, by their stages' times: what is known where the
/// clock is read around stages only.
std::vector<OperatorTime> lone_operators(const std::vector<Stage>& stages,
                                         const std::vector<StageTimes>& times);

}  // namespace hios
