#include "scheduler/cold/shared/kept_plans.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

// Two questions, each with two answers, and simulate() decides. Does an operator go to the device
// that holds its parameters? Then tensors travel, which pays where they are small. And over which
// way does each load come? The base plan divided all loads over the buses; with some of them gone,
// the division is uneven. A new one takes, in the order of use, the way that would end first, where
// each bus serves one load at a time.
//
// Tests: tests/scheduler/cold/shared/kept_plans_test.cpp.

namespace hios::scheduler::cold {
namespace {

/// Returns the only operator of a stage; nothing for one with several.
std::optional<OpId> lone_operator(const PlacedStage& placed) {
  if (placed.stage.groups.size() != 1 || placed.stage.groups.front().size() != 1) return {};
  return placed.stage.groups.front().front();
}

/// Returns the first device that holds the set and can run the operator.
std::optional<DeviceId> able_holder(const PlanProblem& problem, OpId op, std::size_t set) {
  for (std::size_t d = 0; d < problem.devices(); ++d) {
    if (problem.holds(DeviceId(d), set) && problem.costs().can_run(op, DeviceId(d))) {
      return DeviceId(d);
    }
  }
  return std::nullopt;
}

/// Moves operators to devices that hold their parameters, and those without parameters after the
/// producers of their inputs. Operators that must share a device stay.
ColdPlan at_holders(const PlanProblem& problem, ColdPlan plan) {
  std::vector<std::optional<DeviceId>> moved(problem.graph().size());  // by operator
  for (PlacedStage& placed : plan.stages) {
    const auto op = lone_operator(placed);
    if (!op || problem.unit(*op).size() > 1) continue;
    std::optional<DeviceId> to;
    if (const auto set = problem.sets().of(*op)) {
      if (!problem.holds(placed.device, *set)) to = able_holder(problem, *op, *set);
    } else {
      for (const EdgeId edge : problem.graph().in_edges(*op)) {
        const auto& of_producer = moved[problem.graph().edge(edge).from.index()];
        if (of_producer && problem.costs().can_run(*op, *of_producer)) to = of_producer;
      }
    }
    if (!to || *to == placed.device) continue;
    placed.device = *to;
    moved[op->index()] = to;
  }
  return plan;
}

/// Chooses the way of each load.
class WayChooser {
 public:
  WayChooser(const PlanProblem& problem, ColdPlan plan)
      : problem_(problem),
        topology_(*problem.platform().topology()),
        plan_(std::move(plan)),
        bus_free_ms_(topology_.buses().size(), 0) {}

  ColdPlan choose() {
    std::ranges::fill(plan_.relay, std::nullopt);
    std::ranges::fill(plan_.shift, 0);
    for (const PlacedStage& placed : plan_.stages) {
      const auto alone = lone_operator(placed);
      for (const Group& group : placed.stage.groups) {
        for (const OpId op : group) {
          const auto set = problem_.sets().of(op);
          const bool reads =
              alone && plan_.in_place[op.index()] && problem_.can_read_in_place(op, placed.device);
          if (set && !reads) bring(placed.device, *set);
        }
      }
    }
    return std::move(plan_);
  }

 private:
  using Arrival = std::pair<DeviceId, std::size_t>;

  /// A flow that starts once its source has the set and all buses of its route are free.
  double end_ms(RouteId route, std::size_t set, double from_ms) const {
    for (const BusId bus : topology_.route(route).over) {
      from_ms = std::max(from_ms, bus_free_ms_[bus.index()]);
    }
    return from_ms + topology_.alone_ms(route, problem_.sets().sets()[set].size_bytes);
  }

  void take(RouteId route, double until_ms) {
    for (const BusId bus : topology_.route(route).over) bus_free_ms_[bus.index()] = until_ms;
  }

  std::optional<double> there_ms(DeviceId device, std::size_t set) const {
    if (problem_.holds(device, set)) return 0;
    const auto found = there_ms_.find({device, set});
    return found == there_ms_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<RouteId> from_store(DeviceId device) const {
    const auto store = problem_.store(device);
    return store ? topology_.find(*store, device) : std::nullopt;
  }

  void bring(DeviceId to, std::size_t set) {
    if (there_ms(to, set)) return;
    std::optional<DeviceId> relay;
    std::optional<double> first_ms;
    if (const auto direct = from_store(to)) first_ms = end_ms(*direct, set, 0);
    for (const DeviceId each : problem_.relays(to)) {
      const auto at_relay = before_relay_ms(each, set);
      if (!at_relay) continue;
      const double ms = end_ms(*topology_.find(each, to), set, *at_relay);
      if (first_ms && ms >= *first_ms) continue;
      first_ms = ms;
      relay = each;
    }
    if (!first_ms) return;
    if (relay) pass_through(*relay, set);
    take(relay ? *topology_.find(*relay, to) : *from_store(to), *first_ms);
    there_ms_[{to, set}] = *first_ms;
    plan_.relay[to.index() * problem_.sets().sets().size() + set] = relay;
  }

  /// Returns when a relay would have the set; nothing where it takes its own from another device.
  std::optional<double> before_relay_ms(DeviceId relay, std::size_t set) const {
    if (problem_.holds(relay, set)) return 0;
    if (plan_.relay[relay.index() * problem_.sets().sets().size() + set]) return std::nullopt;
    if (const auto there = there_ms(relay, set)) return there;
    const auto route = from_store(relay);
    return route ? std::optional(end_ms(*route, set, 0)) : std::nullopt;
  }

  void pass_through(DeviceId relay, std::size_t set) {
    if (there_ms(relay, set)) return;
    const RouteId route = *from_store(relay);
    const double until_ms = end_ms(route, set, 0);
    take(route, until_ms);
    there_ms_[{relay, set}] = until_ms;
  }

  const PlanProblem& problem_;
  const Topology& topology_;
  ColdPlan plan_;
  std::vector<double> bus_free_ms_;  // by bus
  std::map<Arrival, double> there_ms_;
};

}  // namespace

std::vector<ColdPlan> kept_plans(const PlanProblem& problem, std::span<const ColdPlan> bases) {
  std::vector<ColdPlan> plans;
  for (const ColdPlan& base : bases) {
    ColdPlan moved = at_holders(problem, base);
    plans.push_back(WayChooser(problem, base).choose());
    plans.push_back(WayChooser(problem, moved).choose());
    plans.push_back(base);
    plans.push_back(std::move(moved));
  }
  return plans;
}

std::vector<Schedule> kept_schedules(const PlanProblem& problem, std::span<const ColdPlan> bases) {
  std::vector<Schedule> schedules;
  for (const ColdPlan& plan : kept_plans(problem, bases)) {
    auto schedule = schedule_of(problem, plan);
    if (schedule) schedules.push_back(std::move(*schedule));
  }
  return schedules;
}

}  // namespace hios::scheduler::cold
