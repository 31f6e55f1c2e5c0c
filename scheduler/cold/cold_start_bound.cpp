#include "scheduler/cold/cold_start_bound.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/cold/flows.h"
#include "hios/graph/parameters.h"
#include "scheduler/bounds/graph/bound_graph.h"

// The bound "loads". Each set of parameters leaves a store once at least, by a load or by a read in
// place, with its least bytes over all operators that read it. All flows from stores together are
// no faster than a cut: buses such that each route from a store goes over one of them. The first
// buses of these routes are a cut, and so are the last ones. So the last set to leave the stores
// has left them no earlier than all bytes divided by the cut's bandwidth. Then an operator that
// reads this set still has to run, unless it read the set in place, and after it those on the
// longest path to an output: at least the least such time over all sets.

namespace hios::scheduler {
namespace {

constexpr double kLeftOfFlow = 1e-3;  ///< bytes that need not have moved (cold/flows.h)

void check_in_place(const Graph& graph, const CostModel& costs) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      const Device& device = costs.platform().device(DeviceId(d));
      const auto ms = in_place_ms(graph.op(OpId(v)), device);
      if (!ms || !costs.can_run(OpId(v), DeviceId(d))) continue;
      if (*ms >= costs.operator_ms(OpId(v), DeviceId(d))) continue;
      throw InputError("operator '" + printable(graph.op(OpId(v)).name) + "' takes less on '" +
                       printable(device.name) +
                       "' in place than with its parameters there; in_place_ms must not be below "
                       "time_ms");
    }
  }
}

/// Returns the bandwidth of a cut between the stores and the devices, bytes per ms.
double store_bytes_per_ms(const Topology& topology) {
  std::set<BusId> first, last;
  for (const Route& route : topology.routes()) {
    if (!std::holds_alternative<StoreId>(route.from)) continue;
    if (route.over.empty()) return std::numeric_limits<double>::infinity();
    first.insert(route.over.front());
    last.insert(route.over.back());
  }
  const auto sum = [&](const std::set<BusId>& cut) {
    double gb_per_s = 0;
    for (const BusId bus : cut) gb_per_s += topology.bus(bus).gb_per_s;
    return gb_per_s * 1e6;
  };
  return std::min(sum(first), sum(last));
}

/// Returns, by operator, the least time from its start to the end of the inference.
std::vector<double> times_to_end(const Graph& graph, const CostModel& costs) {
  const Shares shares(graph, costs);
  AllowedDevices allowed(graph, costs);
  BoundGraphs graphs(graph, shares, allowed);
  const BoundGraph whole = graphs.whole();
  std::vector<double> ms(graph.size(), 0);
  for (std::size_t number = whole.size(); number-- > 0;) {
    double after = 0;
    for (const EdgeId e : graph.out_edges(whole.ops[number])) {
      after = std::max(after, ms[graph.edge(e).to.index()]);
    }
    ms[whole.ops[number].index()] = whole.path_ms[number] + after;
  }
  return ms;
}

/// Returns true if some device can read the operator's parameters in place.
bool reads_in_place(const Operator& op, const Platform& platform) {
  return std::ranges::any_of(platform.devices(), [&](const Device& device) {
    return in_place_ms(op, device).has_value();
  });
}

double loads_ms(const Graph& graph, const CostModel& costs, std::span<const Resident> resident) {
  const ParameterSets parameters(graph);
  std::set<std::size_t> held;
  for (const Resident& each : resident) {
    if (const auto set = parameters.of(each.of)) held.insert(*set);
  }
  if (parameters.sets().size() == held.size()) return 0;
  const std::vector<double> to_end = times_to_end(graph, costs);
  double bytes = 0, least_rest_ms = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < parameters.sets().size(); ++s) {
    if (held.contains(s)) continue;
    const ParameterSets::Set& set = parameters.sets()[s];
    Bytes least = set.size_bytes;
    for (const OpId op : set.operators) {
      const Operator& reader = graph.op(op);
      double rest_ms = to_end[op.index()];
      if (reads_in_place(reader, costs.platform())) {
        least = std::min(least, in_place_bytes(reader));
        rest_ms = 0;
        for (const EdgeId e : graph.out_edges(op)) {
          rest_ms = std::max(rest_ms, to_end[graph.edge(e).to.index()]);
        }
      }
      least_rest_ms = std::min(least_rest_ms, rest_ms);
    }
    bytes += std::max(0.0, static_cast<double>(least) - kLeftOfFlow);
  }
  const double last_ms = bytes / store_bytes_per_ms(*costs.platform().topology());
  // Each load may end a rounding early (same_time_ms).
  const double early_ms =
      static_cast<double>(parameters.sets().size()) * (same_time_ms(last_ms) - last_ms);
  return std::max(0.0, last_ms - early_ms) + least_rest_ms;
}

}  // namespace

LowerBound with_loads_bound(const Graph& graph, const CostModel& costs, LowerBound resident_bound,
                            std::span<const Resident> resident) {
  check_in_place(graph, costs);
  const double ms = loads_ms(graph, costs, resident);
  return ms > resident_bound.ms ? LowerBound{ms, "loads"} : resident_bound;
}

}  // namespace hios::scheduler
