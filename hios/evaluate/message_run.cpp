#include "hios/evaluate/message_run.h"

#include "hios/schedule/assignment.h"

// Without a list, a tensor's start is known at the moment it is ready, since all that are ready
// later go after it. So no queue for a link is needed, only the time until which each link or port
// is occupied. Tensors that are ready at the same moment go by their numbers. A tensor that only
// becomes ready at that moment because of a transfer of no duration goes after that one.
//
// With a list, a tensor waits until its predecessors were sent; then its start is known, too. The
// same holds for precedences: the two share a channel, so the second cannot start before the moment
// at which the first is sent, and time never runs backwards.
//
// A device that receives (CostModel::receive_ms) copies a tensor when it first awaits it. The copy
// of a tensor that arrives while the device is idle is a part of its transfer's time. Otherwise the
// device, which has other work until then, ends with the copy later. So a stage that begins to wait
// at t and receives a tensor that arrives at a, with a copy of c, is not ready before max(a, t +
// c); several copies follow each other, by arrival. Tests: an independent fixpoint simulator in
// tests/hios/evaluate/simulate_test.cpp.
//
// Tests: tests/hios/evaluate/contention_test.cpp builds the order of transfers one at a time over a
// simulator of its own.

namespace hios {
namespace {

/// A Plan of a schedule, with the stage numbers of its Assignment.
class PlanOfSchedule {
 public:
  PlanOfSchedule(const Graph& graph, const Schedule& schedule, const CostModel& costs)
      : graph_(graph), schedule_(schedule), costs_(costs), assignment_(graph.size(), schedule) {
    if (!assignment_.is_complete()) {
      throw std::logic_error("simulate: an operator is missing from the schedule or in it twice");
    }
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        const StageCost cost = costs.stage(schedule.devices[d][s], DeviceId(d));
        if (!cost.measured) ++estimated_;
        stages_.push_back({DeviceId(d), s, cost.ms});
      }
    }
  }

  std::size_t estimated() const { return estimated_; }
  std::size_t stages() const { return stages_.size(); }
  std::size_t operators() const { return graph_.size(); }
  bool used(std::size_t) const { return true; }
  DeviceId device(std::size_t stage) const { return stages_[stage].device; }
  double cost_ms(std::size_t stage) const { return stages_[stage].cost_ms; }
  bool is_first(std::size_t stage) const { return stages_[stage].index == 0; }
  std::size_t next(std::size_t stage) const {
    const bool last = stage + 1 == stages() || is_first(stage + 1);
    return last ? stages() : stage + 1;
  }
  std::size_t stage_of(OpId op) const { return assignment_.stage_number(op); }
  template <class Visit>
  void for_each_operator(std::size_t stage, const Visit& visit) const {
    const Stage& here = schedule_.devices[device(stage).index()][stages_[stage].index];
    for (const Group& group : here.groups) {
      for (const OpId op : group) visit(op);
    }
  }
  template <class Visit>
  void for_each_output(OpId op, const Visit& visit) const {
    for (const EdgeId edge : graph_.out_edges(op)) visit(edge, graph_.edge(edge).to);
  }
  template <class Visit>
  void for_each_input(OpId op, const Visit& visit) const {
    for (const EdgeId edge : graph_.in_edges(op)) visit(edge, graph_.edge(edge).from);
  }
  const CostModel& costs() const { return costs_; }

 private:
  struct StageOfDevice {
    DeviceId device;
    std::size_t index;  // among the device's stages
    double cost_ms;
  };

  const Graph& graph_;
  const Schedule& schedule_;
  const CostModel& costs_;
  const Assignment assignment_;
  std::vector<StageOfDevice> stages_;
  std::size_t estimated_ = 0;
};

}  // namespace

/// Returns the number of the transfer, or kNone.
std::uint32_t MessageRun::find(const PlannedTransfer& transfer) const {
  const std::size_t op = transfer.producer.index();
  for (std::size_t t = first_tensor_[op]; t < first_tensor_[op + 1]; ++t) {
    if (tensors_[t].to == transfer.to) return static_cast<std::uint32_t>(t);
  }
  return kNone;
}

void MessageRun::apply_list(std::span<const PlannedTransfer> list) {
  std::vector<std::uint32_t> last(free_ms_.size(), kNone);
  if (list.size() != tensors_.size()) {
    throw std::logic_error("simulate: a transfer is missing from the list or in it twice");
  }
  for (const PlannedTransfer& transfer : list) {
    const std::uint32_t t = find(transfer);
    if (t == kNone) throw std::logic_error("simulate: a listed transfer is not needed");
    // With one link both channels are the same, and so would be the predecessors.
    const std::size_t channels = contention_ == Contention::kPort ? 2 : 1;
    for (std::size_t c = 0; c < channels; ++c) {
      std::uint32_t& before = last[tensors_[t].channels[c]];
      if (before != kNone) wait_for(before, t);
      before = t;
    }
  }
}

void MessageRun::apply(const TransferPrecedence& precedence) {
  const std::uint32_t before = find(precedence.before), after = find(precedence.after);
  if (before == kNone || after == kNone || before == after) return;
  const auto& one = tensors_[before].channels;
  const auto& other = tensors_[after].channels;
  if (one[0] == other[0] || one[1] == other[1]) wait_for(before, after);
}

Timeline simulate_messages(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  const PlanOfSchedule plan(graph, schedule, costs);
  MessageRun run(costs.platform().contention(), schedule.devices.size());
  const TransferOrder order{schedule.transfers, {}};
  if (!run.run(plan, order, [](std::size_t, double) { return false; })) {
    throw std::logic_error("simulate: the schedule waits in a cycle");
  }
  Timeline timeline;
  timeline.latency_ms = run.latency_ms();
  timeline.estimated_stages = plan.estimated();
  std::size_t number = 0;
  for (const auto& stages : schedule.devices) {
    auto& times = timeline.stages.emplace_back();
    for (std::size_t s = 0; s < stages.size(); ++s, ++number) {
      times.push_back({run.awaited_ms()[number], run.ready_ms()[number], run.start_ms(number),
                       run.end_ms()[number]});
    }
  }
  for (const MessageRun::Tensor& tensor : run.tensors()) {
    timeline.transfers.push_back({tensor.producer, tensor.from, tensor.to, tensor.start_ms,
                                  tensor.start_ms + tensor.occupied_ms, tensor.bytes.size()});
  }
  sort_transfers(timeline.transfers);
  return timeline;
}

}  // namespace hios
