#include "scheduler/cold/deepplan/split_loads.h"

#include <algorithm>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/cold/loads.h"
#include "scheduler/scheduler.h"
#include "scheduler/structures/saturating_sum.h"

// "Parallel transmission": one half of the parameters goes to the device, the other half to a
// second device at the same time, and from there on by the faster link between the two (DeepPlan,
// as Namkoong et al., "SortingHat", sections 1 and 3.2 describe it). In halves, the second half
// arrives long before its use, while the device still waits for the first. In turns, both buses
// bring what is needed next.

namespace hios::scheduler::deepplan {
namespace {

/// Divides loads over the two ways to a device.
class Divider {
 public:
  Divider(const Plan& plan, const Graph& graph, const Platform& platform, StoreId direct,
          StoreId around)
      : plan_(plan),
        graph_(graph),
        topology_(*platform.topology()),
        direct_(*topology_.find(direct, plan.device)),
        around_(*topology_.find(around, *plan.second)),
        on_(*topology_.find(*plan.second, plan.device)) {}

  /// Returns, by use, true for those that the second device passes on.
  std::vector<bool> divide(const std::vector<OpId>& uses) const {
    return plan_.split == Split::kHalves ? halves(uses) : turns(uses);
  }

 private:
  Bytes size_of(OpId op) const { return graph_.op(op).parameter_bytes; }

  std::vector<bool> halves(const std::vector<OpId>& uses) const {
    double all = 0, loaded = 0;
    for (const OpId op : uses) all += static_cast<double>(size_of(op));
    std::vector<bool> passed;
    for (const OpId op : uses) {
      const auto bytes = static_cast<double>(size_of(op));
      // A set belongs to the half in which most of its bytes lie.
      passed.push_back(loaded + bytes / 2 > all / 2);
      loaded += bytes;
    }
    return passed;
  }

  std::vector<bool> turns(const std::vector<OpId>& uses) const {
    double direct_ms = 0, around_ms = 0, on_ms = 0;  // ends of the lanes
    std::vector<bool> passed;
    for (const OpId op : uses) {
      const double direct_end_ms = direct_ms + topology_.alone_ms(direct_, size_of(op));
      const double around_end_ms = around_ms + topology_.alone_ms(around_, size_of(op));
      const double on_end_ms =
          std::max(around_end_ms, on_ms) + topology_.alone_ms(on_, size_of(op));
      passed.push_back(on_end_ms < direct_end_ms);
      if (passed.back()) {
        around_ms = around_end_ms;
        on_ms = on_end_ms;
      } else {
        direct_ms = direct_end_ms;
      }
    }
    return passed;
  }

  const Plan& plan_;
  const Graph& graph_;
  const Topology& topology_;
  RouteId direct_, around_, on_;
};

/// Adds the lanes of a split. Returns false where the second device has no room for its part.
bool add_split_lanes(const Plan& plan, const std::vector<OpId>& uses, StoreId direct,
                     const Graph& graph, const Platform& platform, Weights& weights) {
  const StoreId around = require_store(graph, platform, *plan.second, uses);
  const std::vector<bool> passed = Divider(plan, graph, platform, direct, around).divide(uses);
  weights.lanes.resize(3);
  Bytes bytes = 0;
  for (std::size_t u = 0; u < uses.size(); ++u) {
    if (!passed[u]) {
      weights.lanes[0].push_back({uses[u], direct, plan.device});
      continue;
    }
    weights.lanes[1].push_back({uses[u], around, *plan.second});
    weights.lanes[2].push_back({uses[u], *plan.second, plan.device});
    bytes = saturating_sum(bytes, graph.op(uses[u]).parameter_bytes);
  }
  std::erase_if(weights.lanes, [](const Lane& lane) { return lane.empty(); });
  const Bytes limit = platform.device(*plan.second).memory_bytes;
  return limit == 0 || bytes <= limit;
}

}  // namespace

Split split_named(std::string_view name) {
  if (name == "none") return Split::kNone;
  if (name == "halves") return Split::kHalves;
  if (name == "interleaved") return Split::kInterleaved;
  throw InputError("deepplan: split is none, halves or interleaved, not " + quote(name));
}

bool can_pass_on(const Platform& platform, DeviceId device, DeviceId second, Bytes bytes) {
  const Topology& topology = *platform.topology();
  const auto direct = nearest_store(platform, device, bytes);
  const auto around = nearest_store(platform, second, bytes);
  if (second == device || !direct || !around || !topology.find(second, device)) return false;
  const RouteId own = *topology.find(*direct, device), other = *topology.find(*around, second);
  const double fastest = std::max(topology.alone_gb_per_s(own), topology.alone_gb_per_s(other));
  const auto& over = topology.route(other).over;
  return std::ranges::none_of(topology.route(own).over, [&](BusId bus) {
    const bool shared = std::ranges::find(over, bus) != over.end();
    return shared && topology.bus(bus).gb_per_s <= fastest;
  });
}

std::optional<Schedule> schedule_of(const Plan& plan, const std::vector<OpId>& order,
                                    const ParameterSets& parameters, const Graph& graph,
                                    const Platform& platform) {
  Schedule schedule = on_one_device(platform, plan.device, one_operator_stages(order));
  Weights weights;
  std::vector<OpId> uses = first_uses(schedule.stages(plan.device), parameters);
  if (!uses.empty()) {
    const StoreId direct = require_store(graph, platform, plan.device, uses);
    const auto reads = [&](OpId op) {
      const auto set = parameters.of(op);
      return set && !plan.in_place.empty() && plan.in_place[*set];
    };
    for (const OpId op : order) {
      if (reads(op)) weights.in_place.push_back({op, direct});
    }
    std::erase_if(uses, reads);
    if (plan.second && !uses.empty()) {
      if (!add_split_lanes(plan, uses, direct, graph, platform, weights)) return std::nullopt;
    } else if (!uses.empty()) {
      Lane& lane = weights.lanes.emplace_back();
      for (const OpId op : uses) lane.push_back({op, direct, plan.device});
    }
  }
  schedule.weights = std::move(weights);
  return schedule;
}

}  // namespace hios::scheduler::deepplan
