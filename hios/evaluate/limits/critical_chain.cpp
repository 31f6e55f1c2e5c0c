// Walks back from the stage that ends last. A stage that waited for a tensor started because of the
// tensor, and so because of its producer's stage, or because of a load; else because of the stage
// that ran before it on its device. A load started because of the one before it in its lane, of the
// load that brought its parameters to its source, or of a stage that made room. Each step goes to a
// stage that ran before, so the walk ends, also with the clocks of a measured timeline, which
// differ by rank.
#include "hios/evaluate/limits/critical_chain.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "hios/evaluate/limits/arrivals.h"

namespace hios {
namespace {

struct StageAt {
  DeviceId device;
  std::size_t stage = 0;
};

/// Returns the stage that ends last. REQUIRES: the timeline has a stage.
StageAt last_stage(const Timeline& timeline) {
  StageAt last;
  double end_ms = -1;
  for (std::size_t d = 0; d < timeline.stages.size(); ++d) {
    const auto& stages = timeline.stages[d];
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (stages[s].end_ms < end_ms || (stages[s].end_ms == end_ms && last.device != DeviceId(d)))
        continue;
      last = {DeviceId(d), s};
      end_ms = stages[s].end_ms;
    }
  }
  return last;
}

/// Returns the stages of a device in the order in which they ran.
std::vector<std::size_t> in_order(const std::vector<StageTimes>& stages) {
  std::vector<std::size_t> order(stages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t s) { return stages[s].start_ms; });
  return order;
}

/// The walk back from the last stage.
class ChainWalk {
 public:
  ChainWalk(const Timeline& timeline, const Arrivals& arrivals)
      : timeline_(timeline), arrivals_(arrivals), at_(last_stage(timeline)) {
    for (const auto& stages : timeline.stages) {
      const std::vector<std::size_t> order = in_order(stages);
      auto& before = before_.emplace_back(order.size());
      for (std::size_t i = 1; i < order.size(); ++i) before[order[i]] = order[i - 1];
    }
  }

  CriticalChain chain() {
    // A measured timeline may lead back to a load that it has visited.
    std::size_t steps = timeline_.loads.size();
    for (const auto& stages : timeline_.stages) steps += stages.size();
    for (bool more = true; more && steps > 0; --steps)
      more = load_ ? before_load() : before_stage();
    std::reverse(chain_.transfers.begin(), chain_.transfers.end());
    std::reverse(chain_.loads.begin(), chain_.loads.end());
    chain_.other_ms =
        timeline_.latency_ms - chain_.stages_ms - chain_.transfers_ms - chain_.loads_ms;
    return std::move(chain_);
  }

 private:
  const StageTimes& own() const { return timeline_.stages[at_.device.index()][at_.stage]; }

  /// Goes to the stage or load before the present stage, and returns false where there is none.
  bool before_stage() {
    ++chain_.stages;
    chain_.stages_ms += own().end_ms - own().start_ms;
    const bool waited = own().ready_ms > own().awaited_ms;
    const auto last = waited ? arrivals_.last(at_.device, at_.stage) : std::nullopt;
    const auto load = waited ? arrivals_.last_load(at_.device, at_.stage) : std::nullopt;
    if (load && (!last || load->ms > last->ms)) {
      go_to_load(load->load, own().start_ms);
      return true;
    }
    if (last) {
      const AssignedTo& producer = arrivals_.assignment()[last->producer];
      const double sent_ms = timeline_.stages[last->from.index()][producer.stage].end_ms;
      const double ms = std::max(0.0, own().start_ms - sent_ms);
      chain_.transfers.push_back({last->producer, last->from, at_.device, ms});
      chain_.transfers_ms += ms;
      at_ = {producer.device, producer.stage};
      return true;
    }
    const std::optional<std::size_t> before = before_[at_.device.index()][at_.stage];
    if (!before) return false;
    at_.stage = *before;
    return true;
  }

  void go_to_load(std::size_t load, double waited_until_ms) {
    const Load& plan = arrivals_.planned(load);
    const LoadTimes& times = timeline_.loads[load];
    const double ms = std::max(0.0, waited_until_ms - times.start_ms);
    chain_.loads.push_back({plan.of, plan.to, times.lane, ms});
    chain_.loads_ms += ms;
    load_ = load;
  }

  bool before_load() {
    const std::size_t load = *load_;
    const LoadCause cause = arrivals_.cause(load);
    load_.reset();
    if (cause.load) go_to_load(*cause.load, timeline_.loads[load].start_ms);
    if (cause.stage) at_ = {arrivals_.planned(load).to, *cause.stage};
    return cause.load || cause.stage;
  }

  const Timeline& timeline_;
  const Arrivals& arrivals_;
  // By device and stage: the stage that ran before it.
  std::vector<std::vector<std::optional<std::size_t>>> before_;
  StageAt at_;                       // the present stage
  std::optional<std::size_t> load_;  // the present load, instead
  CriticalChain chain_;
};

}  // namespace

CriticalChain critical_chain(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                             const CostModel* costs) {
  if (graph.size() == 0) return {};
  const Arrivals arrivals(graph, schedule, timeline, costs);
  return ChainWalk(timeline, arrivals).chain();
}

}  // namespace hios
