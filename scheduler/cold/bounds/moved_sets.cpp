#include "scheduler/cold/bounds/moved_sets.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "hios/evaluate/cold/flows.h"
#include "scheduler/cold/bounds/store_cut.h"

// Each set crosses the cut between the stores and the devices once at least, by a load or by a read
// in place, with its least bytes over all operators that read it. No flow moves bytes before its
// latency has passed. So n bytes have moved no earlier than the least latency and n divided by the
// bandwidth of the cut. Each flow may end a rounding and a thousandth of a byte early (flows.h).
//
// A set by itself: its load takes at least its time alone, over the best route from a store.

namespace hios::scheduler {
namespace {

bool reads_in_place(const Operator& op, const Platform& platform) {
  return std::ranges::any_of(platform.devices(), [&](const Device& device) {
    return in_place_ms(op, device).has_value();
  });
}

}  // namespace

double without_roundings(double ms, std::size_t roundings) {
  return std::max(0.0, ms - static_cast<double>(roundings) * (same_time_ms(ms) - ms));
}

MovedSets::MovedSets(const Graph& graph, const CostModel& costs, std::span<const Resident> resident,
                     std::span<const DeviceId> into)
    : sets_(graph),
      moves_(sets_.sets().size(), true),
      in_place_(sets_.sets().size(), false),
      least_bytes_(sets_.sets().size(), 0),
      held_ms_(sets_.sets().size(), 0),
      bytes_per_ms_(cut_bytes_per_ms(costs.platform(), into, sets_.sets().size())),
      least_latency_ms_(std::numeric_limits<double>::infinity()) {
  const Topology& topology = *costs.platform().topology();
  for (const Route& route : topology.routes()) {
    if (std::holds_alternative<StoreId>(route.from)) {
      least_latency_ms_ = std::min(least_latency_ms_, route.latency_ms);
    }
  }
  for (const Resident& each : resident) {
    if (const auto set = sets_.of(each.of)) moves_[*set] = false;
  }
  for (std::size_t s = 0; s < sets_.sets().size(); ++s) {
    if (!moves_[s]) continue;
    const ParameterSets::Set& set = sets_.sets()[s];
    Bytes least = set.size_bytes;
    for (const OpId op : set.operators) {
      if (!reads_in_place(graph.op(op), costs.platform())) continue;
      in_place_[s] = true;
      least = std::min(least, in_place_bytes(graph.op(op)));
    }
    least_bytes_[s] = std::max(0.0, static_cast<double>(least) - kEndBytes);
    held_ms_[s] = earliest_held_ms(set.size_bytes, topology);
  }
}

double MovedSets::earliest_held_ms(Bytes size_bytes, const Topology& topology) const {
  double least_ms = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < topology.routes().size(); ++r) {
    if (!std::holds_alternative<StoreId>(topology.route(RouteId(r)).from)) continue;
    least_ms = std::min(least_ms, topology.alone_ms(RouteId(r), size_bytes) -
                                      kEndBytes / (topology.alone_gb_per_s(RouteId(r)) * 1e6));
  }
  // Without a route from a store, no schedule loads it at all.
  return least_ms < std::numeric_limits<double>::infinity() ? without_roundings(least_ms, 2) : 0;
}

double MovedSets::moved_ms(double bytes) const {
  if (!(bytes > 0) || !(bytes_per_ms_ > 0)) return 0;
  return without_roundings(least_latency_ms_ + bytes / bytes_per_ms_, sets_.sets().size() + 1);
}

}  // namespace hios::scheduler
