#include "hios/evaluate/limits/arrivals.h"

#include <algorithm>
#include <utility>

namespace hios {
namespace {

std::pair<OpId, DeviceId> tensor_of(const TransferTimes* transfer) {
  return {transfer->producer, transfer->to};
}

}  // namespace

Arrivals::Arrivals(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                   const CostModel* costs)
    : graph_(graph), schedule_(schedule), costs_(costs), assignment_(graph.size(), schedule) {
  for (const TransferTimes& transfer : timeline.transfers) transfers_.push_back(&transfer);
  std::ranges::sort(transfers_, {}, tensor_of);
}

const TransferTimes* Arrivals::transfer(OpId producer, DeviceId to) const {
  const std::pair wanted(producer, to);
  const auto found = std::ranges::lower_bound(transfers_, wanted, {}, tensor_of);
  return found != transfers_.end() && tensor_of(*found) == wanted ? *found : nullptr;
}

std::optional<LatestInput> Arrivals::last(DeviceId device, std::size_t stage) const {
  std::optional<LatestInput> latest;
  for (const Group& group : schedule_.stages(device)[stage].groups) {
    for (const OpId op : group) {
      for (const EdgeId e : graph_.in_edges(op)) {
        const OpId producer = graph_.edge(e).from;
        const DeviceId from = assignment_[producer].device;
        const TransferTimes* const sent = from == device ? nullptr : transfer(producer, device);
        if (!sent) continue;
        const double there_ms =
            costs_ ? sent->start_ms + costs_->transfer_ms(e, from, device) : sent->end_ms;
        if (!latest || there_ms > latest->ms) latest = {producer, from, there_ms};
      }
    }
  }
  return latest;
}

}  // namespace hios
