#include "scheduler/split/diagram/gap_closer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/milp/milp.h"
#include "scheduler/split/diagram/decision_diagram.h"
#include "scheduler/split/diagram/tails.h"

// A round raises tails and heads by local problems, then compiles a diagram of the whole problem.
// Its cutoff lies between the bound and the incumbent: half way, until a state survives. The path
// to a surviving state is an order of operators; its schedule may beat the incumbent even though
// wide layers were merged.
//
// Devices that one round excludes for an operator stay excluded: a schedule shorter than the
// present incumbent was shorter than the earlier one, too.

namespace hios::scheduler::split {

struct GapCloser::RoundSize {
  std::size_t followers, tail_width,
      width;  ///< the first two for tails.h, the last for the whole problem
};
const GapCloser::RoundSize GapCloser::kSizes[] = {{8, 100, 500},      {14, 500, 4000},
                                                  {20, 2000, 20000},  {26, 4000, 60000},
                                                  {32, 8000, 150000}, {40, 16000, 300000}};

namespace {

constexpr std::size_t kMaxOperators = 2000, kMaxDevices = 16;
constexpr std::size_t kMaxStatesOfLayers = 15'000'000;  // each has a decision of 8 bytes
constexpr int kMaxFailures = 2;      // cutoffs below which states survive, a round
constexpr double kSmallGap = 0.002;  // share of the latency below which the incumbent is the cutoff

}  // namespace

GapCloser::GapCloser(const CostModel& costs, double bound_ms, double incumbent_ms)
    : costs_(costs), incumbent_ms_(incumbent_ms) {
  raise_bound(bound_ms);
  const bool large = costs.graph().size() > kMaxOperators || costs.platform().size() > kMaxDevices;
  if (large || closed()) return;
  problem_ = diagram_problem(costs);
  tighten_along_paths(problem_);
  raise_bound(longest_path_ms(problem_));
}

bool GapCloser::closed() const { return bound_ms_ >= incumbent_ms_ * (1 - milp::kTolerance); }

void GapCloser::raise_bound(double ms) {
  bound_ms_ = std::max(bound_ms_, std::min(ms, incumbent_ms_));
}

void GapCloser::update_incumbent(double latency_ms) {
  incumbent_ms_ = std::min(incumbent_ms_, latency_ms);
  bound_ms_ = std::min(bound_ms_, incumbent_ms_);
}

void GapCloser::run(std::size_t rounds, const Context& context) {
  if (problem_.operators == 0) return;
  while (round_ < std::min(rounds, kMaxRounds) && !closed()) {
    if (!tightened_) tighten(kSizes[round_], context);
    if (!closed()) search(kSizes[round_], context);
    if (context.deadline.expired()) return;
    tightened_ = false;
    ++round_;
  }
}

void GapCloser::tighten(const RoundSize& size, const Context& context) {
  const TailLimits limits{incumbent_ms_, size.followers, size.tail_width, context.deadline};
  raise_tails(problem_, limits);
  DiagramProblem turned = mirrored(problem_);
  raise_tails(turned, limits);
  problem_ = mirrored(turned);
  raise_bound(longest_path_ms(problem_));
  tightened_ = !context.deadline.expired();
}

void GapCloser::search(const RoundSize& size, const Context& context) {
  const std::size_t width = std::min(size.width, kMaxStatesOfLayers / problem_.operators);
  double share = 0.5;
  for (int failures = 0; failures < kMaxFailures && !closed() && !context.deadline.expired();) {
    const double gap = incumbent_ms_ - bound_ms_;
    const bool small_gap = gap < kSmallGap * incumbent_ms_;
    const double below = small_gap ? incumbent_ms_ : bound_ms_ + share * gap;
    const DiagramResult found = compile_diagram(problem_, {below, width, context.deadline});
    raise_bound(found.bound_ms);
    if (found.bound_ms >= below) continue;
    ++failures;
    share /= 2;
    if (!found.order.empty()) try_order(found.order);
    if (small_gap) break;
  }
}

/// Takes the schedule that appends operators to devices in this order, if it beats the incumbent.
void GapCloser::try_order(std::span<const std::pair<std::size_t, std::size_t>> order) {
  Schedule schedule;
  schedule.devices.resize(problem_.devices);
  for (const auto& [v, d] : order) {
    schedule.devices[d].push_back(Stage{{{costs_.graph().topological()[v]}}});
  }
  if (!validate(costs_.graph(), costs_.platform(), schedule).empty()) return;
  const double latency_ms = simulate(costs_.graph(), schedule, costs_).latency_ms;
  if (latency_ms >= incumbent_ms_) return;
  update_incumbent(latency_ms);
  schedule_ = std::move(schedule);
}

}  // namespace hios::scheduler::split
