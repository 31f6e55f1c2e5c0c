#include "hios/evaluate/limits/arrivals.h"

#include <algorithm>
#include <utility>

namespace hios {
namespace {

constexpr double kSameTimeMs = 1e-6;  ///< times of a plan that differ by rounding

std::pair<OpId, DeviceId> tensor_of(const TransferTimes* transfer) {
  return {transfer->producer, transfer->to};
}

}  // namespace

Arrivals::Arrivals(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                   const CostModel* costs)
    : graph_(graph),
      schedule_(schedule),
      timeline_(timeline),
      costs_(costs),
      assignment_(graph.size(), schedule) {
  for (const TransferTimes& transfer : timeline.transfers) transfers_.push_back(&transfer);
  std::ranges::sort(transfers_, {}, tensor_of);
  if (schedule.weights && !timeline.loads.empty()) find_loads();
}

void Arrivals::find_loads() {
  sets_.emplace(graph_);
  in_place_.assign(graph_.size(), false);
  for (const ReadInPlace& read : schedule_.weights->in_place) in_place_[read.of.index()] = true;
  for (std::size_t l = 0; l < timeline_.loads.size(); ++l) {
    if (const auto set = sets_->of(planned(l).of)) loads_[{planned(l).to, *set}].push_back(l);
  }
  evicting_.resize(schedule_.devices.size());
  for (const Eviction& eviction : schedule_.weights->evictions) {
    evicting_[eviction.from.index()].push_back(assignment_[eviction.after].stage);
  }
  for (auto& stages : evicting_) std::ranges::sort(stages);
}

const Load& Arrivals::planned(std::size_t load) const {
  const LoadTimes& times = timeline_.loads[load];
  return schedule_.weights->lanes[times.lane][times.index];
}

std::optional<std::size_t> Arrivals::latest_load(DeviceId to, std::size_t set,
                                                 double until_ms) const {
  std::optional<std::size_t> latest;
  const auto found = loads_.find({to, set});
  if (found == loads_.end()) return latest;
  for (const std::size_t load : found->second) {
    const double end_ms = timeline_.loads[load].end_ms;
    if (end_ms > until_ms + kSameTimeMs) continue;
    if (!latest || end_ms > timeline_.loads[*latest].end_ms) latest = load;
  }
  return latest;
}

std::optional<LatestLoad> Arrivals::last_load(DeviceId device, std::size_t stage) const {
  if (!sets_) return std::nullopt;
  std::optional<std::size_t> latest;
  const auto consider = [&](std::optional<std::size_t> load) {
    if (!load || (latest && timeline_.loads[*latest].end_ms >= timeline_.loads[*load].end_ms)) {
      return;
    }
    latest = load;
  };
  const double start_ms = timeline_.stages[device.index()][stage].start_ms;
  if (schedule_.weights->load_first) {
    for (std::size_t l = 0; l < timeline_.loads.size(); ++l) consider(l);
  }
  for (const Group& group : schedule_.stages(device)[stage].groups) {
    for (const OpId op : group) {
      const auto set = sets_->of(op);
      if (set && !in_place_[op.index()]) consider(latest_load(device, *set, start_ms));
    }
  }
  if (!latest) return std::nullopt;
  const double launch_ms = costs_ ? costs_->launch_ms(device) : 0;
  const LoadTimes& times = timeline_.loads[*latest];
  return LatestLoad{*latest, planned(*latest).of, times.lane, times.end_ms + launch_ms};
}

LoadCause Arrivals::cause(std::size_t load) const {
  const LoadTimes& own = timeline_.loads[load];
  const Load& plan = planned(load);
  LoadCause cause;
  double latest_ms = 0;
  // A measured timeline lacks the loads that nothing waits for.
  if (load > 0 && timeline_.loads[load - 1].lane == own.lane) {
    cause.load = load - 1;
    latest_ms = timeline_.loads[load - 1].end_ms;
  }
  const auto* source = std::get_if<DeviceId>(&plan.from);
  const auto set = sets_->of(plan.of);
  const auto brought =
      source && set ? latest_load(*source, *set, own.start_ms) : std::optional<std::size_t>();
  if (brought && timeline_.loads[*brought].end_ms > latest_ms + kSameTimeMs) {
    cause.load = brought;
    latest_ms = timeline_.loads[*brought].end_ms;
  }
  for (const std::size_t stage : evicting_[plan.to.index()]) {
    const double end_ms = timeline_.stages[plan.to.index()][stage].end_ms;
    if (end_ms > own.start_ms + kSameTimeMs || end_ms <= latest_ms + kSameTimeMs) continue;
    cause = {.load = {}, .stage = stage};
    latest_ms = end_ms;
  }
  return cause;
}

const TransferTimes* Arrivals::transfer(OpId producer, DeviceId to) const {
  const std::pair wanted(producer, to);
  const auto found = std::ranges::lower_bound(transfers_, wanted, {}, tensor_of);
  return found != transfers_.end() && tensor_of(*found) == wanted ? *found : nullptr;
}

double Arrivals::there(const TransferTimes& sent, EdgeId edge) const {
  if (!costs_) return sent.end_ms;
  // On shared buses a tensor takes as long as the others let it. There, and where it is read in
  // ranges, all consumers wait for it.
  if (costs_->platform().topology() || costs_->sends_ranges(sent.producer)) {
    return sent.end_ms + costs_->launch_ms(sent.to);
  }
  return sent.start_ms + costs_->transfer_ms(edge, sent.from, sent.to);
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
        const double there_ms = there(*sent, e);
        if (!latest || there_ms > latest->ms) latest = {producer, from, there_ms};
      }
    }
  }
  return latest;
}

}  // namespace hios
