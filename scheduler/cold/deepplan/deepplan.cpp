#include "scheduler/cold/deepplan/deepplan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/cold/deepplan/in_place_choice.h"
#include "scheduler/cold/deepplan/split_loads.h"
#include "scheduler/cold/one_device.h"
#include "scheduler/structures/saturating_sum.h"

// First all plans without reads in place, by simulate(); then, from the shortest on, reads in place
// while simulations are left. The estimate (in_place_choice.h) proposes a list; what is kept is the
// whole list if that shortens the plan, or else its first half, and so on. A proposal that fails
// alone is refused from then on. So a few simulations suffice for a large network, and for a small
// one nearly every proposal is tried by itself.
//
// Tests: tests/scheduler/cold/deepplan_test.cpp.

namespace hios::scheduler {
namespace deepplan {
namespace {

/// Simulations for reads in place, times operators: some ms.
constexpr std::size_t kSimulatedOperators = 20'000;

struct Simulated {
  Plan plan;
  Schedule schedule;
  Timeline timeline;
};

class DeepPlanSearch {
 public:
  DeepPlanSearch(const Problem& problem, const Context& context)
      : graph_(problem.graph()),
        platform_(problem.platform()),
        costs_(problem.costs()),
        deadline_(context.deadline),
        parameters_(graph_),
        order_(graph_.topological().begin(), graph_.topological().end()) {
    for (const ParameterSets::Set& set : parameters_.sets()) {
      bytes_ = saturating_sum(bytes_, set.size_bytes);
    }
  }

  Schedule search(Split split) {
    std::vector<Simulated> plans = all_plans(split);
    std::ranges::stable_sort(plans, {}, [](const Simulated& s) { return s.timeline.latency_ms; });
    simulations_left_ = 1 + kSimulatedOperators / std::max<std::size_t>(1, graph_.size());
    Simulated* shortest = &plans.front();
    for (Simulated& plan : plans) {
      improve(plan);
      if (plan.timeline.latency_ms < shortest->timeline.latency_ms) shortest = &plan;
    }
    return std::move(shortest->schedule);
  }

 private:
  std::optional<Simulated> simulated(const Plan& plan) const {
    auto schedule = schedule_of(plan, order_, parameters_, graph_, platform_);
    if (!schedule) return std::nullopt;
    Timeline timeline = simulate(graph_, *schedule, costs_);
    return Simulated{plan, std::move(*schedule), std::move(timeline)};
  }

  /// Returns the plans of all devices that can run alone, without reads in place.
  std::vector<Simulated> all_plans(Split split) const {
    std::vector<Simulated> plans;
    for_each_single_device("deepplan", costs_, [&](DeviceId device) {
      plans.push_back(*simulated({.device = device}));
      for (std::size_t d = 0; d < platform_.size() && split != Split::kNone; ++d) {
        const DeviceId second(d);
        if (deadline_.expired() || !can_pass_on(platform_, device, second, bytes_)) continue;
        auto plan = simulated({.device = device, .second = second, .split = split});
        if (plan) plans.push_back(std::move(*plan));
      }
    });
    return plans;
  }

  /// Replaces loads by reads in place while that shortens the plan.
  void improve(Simulated& best) {
    const std::size_t sets = parameters_.sets().size();
    std::vector<bool> refused(sets, false);
    while (simulations_left_ > 0 && !deadline_.expired()) {
      const std::vector<std::size_t> proposed = choose_in_place(
          best.plan, order_, best.schedule, best.timeline, parameters_, costs_, refused);
      if (proposed.empty()) return;
      if (!take_some(proposed, best)) refused[proposed.front()] = true;
    }
  }

  /// Takes as many of the first proposals as shorten the plan; returns false where not even one
  /// does.
  bool take_some(const std::vector<std::size_t>& proposed, Simulated& best) {
    for (std::size_t count = proposed.size(); count > 0 && simulations_left_ > 0; count /= 2) {
      Plan plan = best.plan;
      plan.in_place.resize(parameters_.sets().size(), false);
      for (std::size_t i = 0; i < count; ++i) plan.in_place[proposed[i]] = true;
      --simulations_left_;
      auto shorter = simulated(plan);
      if (!shorter || !(shorter->timeline.latency_ms < best.timeline.latency_ms)) continue;
      best = std::move(*shorter);
      return true;
    }
    return false;
  }

  const Graph& graph_;
  const Platform& platform_;
  const CostModel& costs_;
  const Deadline& deadline_;
  const ParameterSets parameters_;
  const std::vector<OpId> order_;
  Bytes bytes_ = 0;  ///< of all parameters
  std::size_t simulations_left_ = 0;
};

}  // namespace
}  // namespace deepplan

ScheduleResult deepplan_schedule(const Problem& problem, const Options& options,
                                 const Context& context) {
  const deepplan::Split split = deepplan::split_named(options.string("split"));
  Schedule schedule = deepplan::DeepPlanSearch(problem, context).search(split);
  const Outcome outcome = context.deadline.expired() ? Outcome::kTimeLimit : Outcome::kFeasible;
  return complete(std::move(schedule), outcome, problem, options, context);
}

}  // namespace hios::scheduler
