#include "engine/run/clocks/operator_clocks.h"

#include <utility>

#include "engine/host/clock.h"

namespace hios {
namespace {

class TimedOperator final : public BoundOperator {
 public:
  TimedOperator(std::unique_ptr<BoundOperator> inner, const bool& recording, double& ms)
      : inner_(std::move(inner)), recording_(recording), ms_(ms) {}

  void run() override {
    if (!recording_) return inner_->run();
    const Stopwatch stopwatch;
    inner_->run();
    ms_ = stopwatch.ms();
  }

 private:
  std::unique_ptr<BoundOperator> inner_;
  const bool& recording_;
  double& ms_;
};

}  // namespace

std::unique_ptr<BoundOperator> OperatorClocks::timed(std::unique_ptr<BoundOperator> bound,
                                                     OpId op) {
  times_.push_back({op, 0});
  return std::make_unique<TimedOperator>(std::move(bound), recording_, times_.back().ms);
}

std::vector<OperatorTime> lone_operators(const std::vector<Stage>& stages,
                                         const std::vector<StageTimes>& times) {
  std::vector<OperatorTime> lone;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::vector<Group>& groups = stages[s].groups;
    if (groups.size() != 1 || groups.front().size() != 1) continue;
    lone.push_back({groups.front().front(), times[s].end_ms - times[s].start_ms});
  }
  return lone;
}

}  // namespace hios
