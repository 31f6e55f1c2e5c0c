#include "scheduler/cold/search/cold_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "hios/evaluate/simulate.h"
#include "scheduler/cold/loads.h"
#include "scheduler/cold/search/stage_order.h"
#include "scheduler/structures/saturating_sum.h"

// Loads from stores wait for nothing but their lane, and loads from devices for loads from stores,
// so no lanes wait for each other. Nothing is evicted: a device has room for all that it ever
// holds, or the plan has no schedule.

namespace hios::scheduler::cold {
PlanProblem::PlanProblem(const CostModel& costs, Held held)
    : graph_(&costs.graph()),
      costs_(&costs),
      sets_(*graph_),
      resident_(std::move(held.resident)),
      holds_(costs.platform().size() * sets_.sets().size(), false),
      held_bytes_(std::move(held.other_bytes)),
      unit_of_(graph_->size()) {
  held_bytes_.resize(devices(), 0);
  for (const Resident& each : resident_) {
    const std::size_t set = *sets_.of(each.of), d = each.on.index();
    holds_[d * sets_.sets().size() + set] = true;
    held_bytes_[d] = saturating_sum(held_bytes_[d], sets_.sets()[set].size_bytes);
  }
  Bytes bytes = 0;
  for (const ParameterSets::Set& set : sets_.sets()) bytes = saturating_sum(bytes, set.size_bytes);
  for (std::size_t d = 0; d < devices(); ++d) {
    stores_.push_back(nearest_store(platform(), DeviceId(d), bytes));
  }
  sharing_ = sharing_devices(platform(), stores_);
  for (std::size_t to = 0; to < devices(); ++to) {
    relays_.emplace_back();
    for (std::size_t from = 0; from < devices(); ++from) {
      const bool holds_some =
          std::ranges::find(resident_, DeviceId(from), &Resident::on) != resident_.end();
      if (from == to || !(stores_[from] || holds_some)) continue;
      const Topology& topology = *platform().topology();
      const auto route = topology.find(DeviceId(from), DeviceId(to));
      if (!route || copied_by_cores(topology.route(*route))) continue;
      relays_.back().push_back(DeviceId(from));
    }
  }
  std::map<std::string, std::size_t> labels;
  for (std::size_t v = 0; v < graph_->size(); ++v) {
    const std::string& label = graph_->op(OpId(v)).colocate;
    const std::size_t unit =
        label.empty() ? units_.size() : labels.emplace(label, units_.size()).first->second;
    if (unit == units_.size()) units_.emplace_back();
    units_[unit].push_back(OpId(v));
    unit_of_[v] = unit;
  }
}

bool PlanProblem::can_read_in_place(OpId op, DeviceId device) const {
  return sets_.of(op) && store(device) &&
         in_place_ms(graph_->op(op), platform().device(device)).has_value();
}

double PlanProblem::latency_ms(const Schedule& schedule) const {
  return simulate(*graph_, schedule, *costs_).latency_ms;
}

namespace {

/// Makes a schedule of a plan.
class PlanWriter {
 public:
  PlanWriter(const PlanProblem& problem, const ColdPlan& plan)
      : problem_(problem),
        plan_(plan),
        sets_(problem.sets().sets().size()),
        needed_(problem.devices() * sets_, false) {
    for (std::size_t d = 0; d < problem.devices(); ++d) {
      used_bytes_.push_back(problem.held_bytes(DeviceId(d)));
    }
  }

  std::optional<Schedule> schedule() {
    Schedule schedule;
    schedule.devices.resize(problem_.devices());
    Weights weights;
    weights.resident = problem_.resident();
    for (std::size_t at = 0; at < plan_.stages.size(); ++at) {
      const PlacedStage& placed = plan_.stages[at];
      schedule.devices[placed.device.index()].push_back(placed.stage);
      need_parameters(at, weights);
    }
    if (!add_loads(weights) || !has_room()) return std::nullopt;
    schedule.weights = std::move(weights);
    return schedule;
  }

 private:
  /// A set that a device needs.
  struct Use {
    std::int64_t key = 0;  ///< its turn among loads
    std::size_t at = 0;    ///< the first stage that needs it
    OpId of;
    DeviceId to;
    std::size_t set = 0;
  };

  std::size_t slot(DeviceId device, std::size_t set) const { return device.index() * sets_ + set; }

  void need_parameters(std::size_t at, Weights& weights) {
    const auto& [device, stage] = plan_.stages[at];
    const bool alone = stage.groups.size() == 1 && stage.groups.front().size() == 1;
    for (const Group& group : stage.groups) {
      for (const OpId op : group) {
        use_bytes(device, problem_.graph().op(op).memory_bytes);
        const auto set = problem_.sets().of(op);
        if (!set || problem_.holds(device, *set)) continue;
        if (alone && plan_.in_place[op.index()] && problem_.can_read_in_place(op, device)) {
          weights.in_place.push_back({op, *problem_.store(device)});
          continue;
        }
        if (needed_[slot(device, *set)]) continue;
        needed_[slot(device, *set)] = true;
        const auto turn = static_cast<std::int64_t>(at) + plan_.shift[slot(device, *set)];
        uses_.push_back({turn, at, op, device, *set});
      }
    }
  }

  std::optional<DeviceId> relay_of(const Use& use) const {
    const auto relay = plan_.relay[slot(use.to, use.set)];
    if (!relay) return std::nullopt;
    const bool held = problem_.holds(*relay, use.set);
    if (!held && plan_.relay[slot(*relay, use.set)]) return std::nullopt;
    const auto& able = problem_.relays(use.to);
    return std::ranges::find(able, *relay) == able.end() ? std::nullopt : relay;
  }

  /// Adds the lanes. Returns false where a device has no route from a store.
  bool add_loads(Weights& weights) {
    std::ranges::stable_sort(uses_, {}, [](const Use& use) { return std::pair(use.key, use.at); });
    for (const Use& use : uses_) {
      const auto relay = relay_of(use);
      if (!relay) {
        if (!load_from_store(use.of, use.set, use.to)) return false;
        continue;
      }
      const bool held = problem_.holds(*relay, use.set);
      if (!held && !load_from_store(use.of, use.set, *relay)) return false;
      add(use.of, use.set, *relay, use.to);
    }
    for (auto& [ends, lanes] : lanes_) {
      for (Lane& lane : lanes.lanes) {
        if (!lane.empty()) weights.lanes.push_back(std::move(lane));
      }
    }
    return true;
  }

  bool load_from_store(OpId of, std::size_t set, DeviceId to) {
    if (!problem_.store(to)) return false;
    if (!loaded_.emplace(slot(to, set), true).second) return true;
    add(of, set, *problem_.store(to), to);
    return true;
  }

  void add(OpId of, std::size_t set, const Holder& from, DeviceId to) {
    const bool together = plan_.shared_lanes && std::holds_alternative<StoreId>(from);
    RouteLanes& route = lanes_[{from, together ? problem_.sharing(to) : to}];
    route.lanes.resize(plan_.lanes_of_route);
    route.lanes[route.next++ % plan_.lanes_of_route].push_back({of, from, to});
    use_bytes(to, problem_.sets().sets()[set].size_bytes);
  }

  void use_bytes(DeviceId device, Bytes bytes) {
    Bytes& used = used_bytes_[device.index()];
    used = saturating_sum(used, bytes);
  }

  bool has_room() const {
    for (std::size_t d = 0; d < used_bytes_.size(); ++d) {
      const Bytes limit = problem_.platform().device(DeviceId(d)).memory_bytes;
      if (limit > 0 && used_bytes_[d] > limit) return false;
    }
    return true;
  }

  struct RouteLanes {
    std::vector<Lane> lanes;
    std::size_t next = 0;
  };

  const PlanProblem& problem_;
  const ColdPlan& plan_;
  std::size_t sets_;
  std::vector<bool> needed_;            // device × set
  std::map<std::size_t, bool> loaded_;  // device × set, from a store
  std::vector<Use> uses_;
  std::map<std::pair<Holder, DeviceId>, RouteLanes> lanes_;
  std::vector<Bytes> used_bytes_;  // by device
};

}  // namespace

ColdPlan plan_of(const PlanProblem& problem, const Schedule& schedule) {
  const std::size_t sets = problem.sets().sets().size();
  ColdPlan plan;
  plan.stages = ordered_stages(problem.graph(), schedule,
                               simulate(problem.graph(), schedule, problem.costs()));
  plan.in_place.assign(problem.graph().size(), false);
  plan.relay.assign(problem.devices() * sets, std::nullopt);
  plan.shift.assign(problem.devices() * sets, 0);
  if (!schedule.weights) return plan;
  for (const ReadInPlace& read : schedule.weights->in_place) {
    plan.in_place[read.of.index()] = true;
  }
  for (const Lane& lane : schedule.weights->lanes) {
    for (const Load& load : lane) {
      plan.shared_lanes = plan.shared_lanes || load.to != lane.front().to;
      const auto* from = std::get_if<DeviceId>(&load.from);
      const auto set = problem.sets().of(load.of);
      if (from && set) plan.relay[load.to.index() * sets + *set] = *from;
    }
  }
  return plan;
}

std::optional<Schedule> schedule_of(const PlanProblem& problem, const ColdPlan& plan) {
  return PlanWriter(problem, plan).schedule();
}

}  // namespace hios::scheduler::cold
