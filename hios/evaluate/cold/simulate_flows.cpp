#include "hios/evaluate/cold/simulate_flows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/cold/device_pace.h"
#include "hios/evaluate/cold/flow_stages.h"
#include "hios/evaluate/cold/flows.h"
#include "hios/evaluate/cold/lanes.h"
#include "hios/evaluate/message_run.h"

// Events in the order of time. At each time all that happens is processed until nothing more does:
// flows end, stages begin and end, and only then new flows start, which may end at the same time.
// A stage's start is known when the last of its inputs and parameters is there. It may lie ahead by
// the launch and by copies of what the device receives; only a read in place has to wait for it,
// since its flow slows others from then on. Where loads and operators slow each other, a stage's
// end moves whenever a load to its device starts or ends.
//
// Tests: tests/hios/evaluate/cold/simulate_flows_test.cpp, also against a simulator that shares no
// code with this one (tests/support/oracles/slow_cold_simulator.h).

namespace hios {
namespace {

constexpr double kNeverMs = std::numeric_limits<double>::infinity();

/// Stages or their starts by time, the earliest first, then by number.
class TimedStages {
 public:
  void add(double ms, std::size_t stage) {
    heap_.emplace_back(ms, stage);
    std::ranges::push_heap(heap_, std::greater<>());
  }
  /// Changes the time of a stage that was added.
  void move(double ms, std::size_t stage, double to_ms) {
    *std::ranges::find(heap_, std::pair(ms, stage)) = {to_ms, stage};
    std::ranges::make_heap(heap_, std::greater<>());
  }
  double next_ms() const { return heap_.empty() ? kNeverMs : heap_.front().first; }
  /// Removes and returns the first stage if its time is `ms`.
  std::optional<std::size_t> take(double ms) {
    if (!(next_ms() <= same_time_ms(ms))) return std::nullopt;
    std::ranges::pop_heap(heap_, std::greater<>());
    const std::size_t stage = heap_.back().second;
    heap_.pop_back();
    return stage;
  }

 private:
  std::vector<std::pair<double, std::size_t>> heap_;
};

class FlowSimulation {
 public:
  FlowSimulation(const Graph& graph, const Schedule& schedule, const CostModel& costs)
      : costs_(costs),
        topology_(*costs.platform().topology()),
        flows_(topology_.buses()),
        load_first_(schedule.weights && schedule.weights->load_first) {
    if (schedule.weights) lanes_.emplace(graph, schedule, costs.platform());
    if (lanes_ && topology_.has_slowdowns()) {
      paces_.assign(schedule.devices.size(), DevicePace(flows_));
      running_.resize(schedule.devices.size());
    }
    plan_ = plan_flow_stages(graph, schedule, costs, lanes_ ? &lanes_->sets() : nullptr);
    for (const auto& stages : schedule.devices) timeline_.stages.emplace_back(stages.size());
    timeline_.estimated_stages = plan_.estimated;
    arrived_ms_.resize(plan_.messages.size());
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      next_.push_back(0);
      if (schedule.devices[d].empty()) continue;
      times(plan_.number(DeviceId(d), 0)).awaited_ms = costs.launch_ms(DeviceId(d));
      changed_.push_back(DeviceId(d));
    }
    stages_left_ = plan_.stages.size();
  }

  Timeline run() {
    for (double next_ms = 0; next_ms < kNeverMs;) {
      now_ms_ = next_ms;
      process_now();
      next_ms = std::min({flows_.next_change_ms(), ends_.next_ms(), reads_.next_ms()});
    }
    if (stages_left_ > 0 || (lanes_ && !lanes_->ended())) throw std::logic_error(deadlock());
    if (lanes_) timeline_.loads = lanes_->times();
    sort_transfers(timeline_.transfers);
    return std::move(timeline_);
  }

 private:
  enum class Use { kLoad, kMessage, kRead };
  /// The use of a flow: for a lane, a message, or a stage that reads in place.
  struct FlowUse {
    Use use;
    std::size_t index;
  };

  StageTimes& times(std::size_t stage) {
    const FlowStage& planned = plan_.stages[stage];
    return timeline_.stages[planned.device.index()][planned.index];
  }

  void process_now() {
    do {
      for (const Flows::FlowId id : flows_.advance(now_ms_)) end_flow(id);
      begin_stages();
      while (end_stages()) begin_stages();
      start_flows();
    } while (flows_.next_change_ms() <= same_time_ms(now_ms_));
  }

  void end_flow(Flows::FlowId id) {
    const FlowUse flow = uses_[id];
    switch (flow.use) {
      case Use::kLoad:
        changed_.push_back(lanes_->end(flow.index, now_ms_));
        last_load_ms_ = now_ms_;
        change_pace(changed_.back(), [&](DevicePace& pace) { pace.load_ended(id); });
        if (load_first_ && lanes_->ended()) {
          for (std::size_t d = 0; d < next_.size(); ++d) changed_.push_back(DeviceId(d));
        }
        break;
      case Use::kMessage:
        end_message(flow.index);
        break;
      case Use::kRead:
        end_read(flow.index);
        break;
    }
  }

  void end_read(std::size_t stage) {
    StageTimes& own = times(stage);
    own.end_ms = std::max(now_ms_, own.start_ms + plan_.stages[stage].cost_ms);
    ends_.add(own.end_ms, stage);
  }

  /// Changes what a device's loads and operators do to each other, and moves the end of the stage
  /// that runs there.
  template <class Change>
  void change_pace(DeviceId device, Change&& change) {
    if (paces_.empty()) return;
    DevicePace& pace = paces_[device.index()];
    const double before = pace.factor();
    change(pace);
    const auto& stage = running_[device.index()];
    if (!stage || pace.factor() == before) return;
    StageTimes& own = times(*stage);
    const double since_ms = std::max(now_ms_, own.start_ms);
    const double end_ms = since_ms + (own.end_ms - since_ms) * pace.factor() / before;
    ends_.move(own.end_ms, *stage, end_ms);
    own.end_ms = end_ms;
  }

  void end_message(std::size_t number) {
    const FlowMessage& message = plan_.messages[number];
    const double sent_ms = times(plan_.stage_of[message.producer.index()]).end_ms;
    const double end_ms = std::max(now_ms_, sent_ms + message.least_ms);
    timeline_.transfers.push_back(
        {message.producer, message.from, message.to, sent_ms, end_ms, message.bytes.size()});
    const double ready_ms = end_ms + costs_.launch_ms(message.to);
    arrived_ms_[number] = ready_ms;
    for (const EdgeId e : costs_.graph().out_edges(message.producer)) {
      const std::size_t consumer = plan_.stage_of[costs_.graph().edge(e).to.index()];
      if (plan_.stages[consumer].device == message.to) arrive(consumer, ready_ms);
    }
  }

  void arrive(std::size_t stage, double ms) {
    times(stage).ready_ms = std::max(times(stage).ready_ms, ms);
    arrive(stage);
  }
  void arrive(std::size_t stage) {
    if (--plan_.stages[stage].waits == 0) changed_.push_back(plan_.stages[stage].device);
  }

  /// Begins the next stage of each device for which something has changed, if it may begin.
  void begin_stages() {
    for (const DeviceId device : std::exchange(changed_, {})) {
      std::size_t& next = next_[device.index()];
      if (next == timeline_.stages[device.index()].size()) continue;
      const std::size_t stage = plan_.number(device, next);
      if (plan_.stages[stage].waits > 0 || (load_first_ && !lanes_->ended())) continue;
      if (missing_set(stage)) continue;
      ++next;
      begin(stage);
    }
  }

  std::optional<std::size_t> missing_set(std::size_t stage) const {
    const FlowStage& planned = plan_.stages[stage];
    for (const std::size_t set : planned.sets) {
      if (!lanes_->holds(planned.device, set)) return set;
    }
    return std::nullopt;
  }

  void begin(std::size_t stage) {
    const FlowStage& planned = plan_.stages[stage];
    StageTimes& own = times(stage);
    double loaded_ms = load_first_ ? last_load_ms_ : 0;
    for (const std::size_t set : planned.sets) {
      loaded_ms = std::max(loaded_ms, lanes_->held_since_ms(planned.device, set));
    }
    if (loaded_ms > 0) {
      own.ready_ms = std::max(own.ready_ms, loaded_ms + costs_.launch_ms(planned.device));
    }
    own.start_ms = std::max(own.ready_ms, copied_ms(planned, own.awaited_ms));
    change_pace(planned.device, [](DevicePace& pace) { pace.computes(true); });
    if (planned.read) {
      reads_.add(own.start_ms, stage);
      return;
    }
    own.end_ms = own.start_ms + planned.cost_ms;
    if (!paces_.empty()) {
      own.end_ms = own.start_ms + planned.cost_ms * paces_[planned.device.index()].factor();
      running_[planned.device.index()] = stage;
    }
    ends_.add(own.end_ms, stage);
  }

  /// Returns the time at which the device has copied what the stage is the first to read.
  double copied_ms(const FlowStage& stage, double awaited_ms) {
    if (!costs_.charges_receivers()) return awaited_ms;
    copies_.clear();
    for (const std::size_t m : stage.receives) {
      const FlowMessage& message = plan_.messages[m];
      copies_.add(m, arrived_ms_[m], costs_.copy_ms(message.least_ms, message.from, message.to));
    }
    copies_.sort();
    return copies_.end_ms(awaited_ms);
  }

  /// Ends the stages that end now, and returns true if there was one.
  bool end_stages() {
    bool any = false;
    while (const auto stage = ends_.take(now_ms_)) {
      any = true;
      end_stage(*stage);
    }
    return any;
  }

  void end_stage(std::size_t stage) {
    const FlowStage& planned = plan_.stages[stage];
    const double end_ms = times(stage).end_ms;
    --stages_left_;
    if (!paces_.empty()) {
      running_[planned.device.index()].reset();
      paces_[planned.device.index()].computes(false);
    }
    timeline_.latency_ms = std::max(timeline_.latency_ms, end_ms);
    for (const std::size_t set : planned.evicted) lanes_->evict(planned.device, set);
    for (const std::size_t consumer : planned.consumers) arrive(consumer, end_ms);
    sent_.insert(sent_.end(), planned.messages.begin(), planned.messages.end());
    if (planned.index + 1 == timeline_.stages[planned.device.index()].size()) return;
    times(stage + 1).awaited_ms = end_ms;
    arrive(stage + 1);
  }

  void start_flows() {
    while (const auto stage = reads_.take(now_ms_)) {
      const FlowStage& planned = plan_.stages[*stage];
      const Flows::FlowId read = start(*planned.read, {Use::kRead, *stage});
      change_pace(planned.device,
                  [&](DevicePace& pace) { pace.reads(read, planned.read->gb_per_s); });
    }
    if (lanes_) {
      for (const Lanes::Started& load : lanes_->start(now_ms_)) {
        const Route& route = topology_.route(load.route);
        const double latency_ms = route.latency_ms + (load.first ? route.start_ms : 0);
        const Flows::FlowId flow =
            start({route.over, latency_ms, route.gb_per_s, static_cast<double>(load.size_bytes)},
                  {Use::kLoad, load.lane});
        change_pace(route.to, [&](DevicePace& pace) { pace.load_started(flow, route); });
      }
    }
    std::ranges::sort(sent_);
    for (const std::size_t m : std::exchange(sent_, {})) {
      start(plan_.messages[m].flow, {Use::kMessage, m});
    }
  }

  Flows::FlowId start(const Flows::Flow& flow, const FlowUse& use) {
    uses_.push_back(use);
    return flows_.start(flow);
  }

  std::string deadlock() const {
    const std::string text = "simulate: the schedule never ends: ";
    if (lanes_) {
      if (const auto load = lanes_->waiting()) return text + *load;
    }
    for (std::size_t d = 0; d < next_.size(); ++d) {
      if (next_[d] == timeline_.stages[d].size()) continue;
      const std::size_t stage = plan_.number(DeviceId(d), next_[d]);
      const bool inputs = plan_.stages[stage].waits > 0;
      const std::string waits = "stage " + std::to_string(next_[d]) + " of '" +
                                printable(costs_.platform().device(DeviceId(d)).name) + "' waits ";
      if (const auto set = inputs ? std::nullopt : missing_set(stage)) {
        return text + waits + "for the parameters '" + printable(lanes_->sets().sets()[*set].name) +
               "'";
      }
      return text + waits + "for other stages in a cycle";
    }
    return text + "it has no stage";
  }

  const CostModel& costs_;
  const Topology& topology_;
  Flows flows_;
  bool load_first_;
  std::optional<Lanes> lanes_;  // of a schedule with weights
  FlowPlan plan_;
  // By device; empty where no load slows operators, nor they loads.
  std::vector<DevicePace> paces_;
  std::vector<std::optional<std::size_t>> running_;  // the stage, unless it is read in place
  std::vector<FlowUse> uses_;                        // by FlowId
  TimedStages ends_, reads_;        // ends of stages; starts of those that read in place
  std::vector<std::size_t> next_;   // by device, the stage that begins next
  std::vector<DeviceId> changed_;   // devices whose next stage may be able to begin
  std::vector<std::size_t> sent_;   // messages whose flows start now
  std::vector<double> arrived_ms_;  // by message, with the launch of its readers
  AwaitedCopies copies_;            // of the stage that begins
  std::size_t stages_left_ = 0;
  double last_load_ms_ = 0;
  double now_ms_ = 0;
  Timeline timeline_;
};

}  // namespace

Timeline simulate_flows(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  if (!costs.platform().topology()) throw std::logic_error("simulate: a platform without routes");
  return FlowSimulation(graph, schedule, costs).run();
}

}  // namespace hios
