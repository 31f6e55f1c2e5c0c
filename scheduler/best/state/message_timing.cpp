#include "scheduler/best/state/message_timing.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "scheduler/structures/numbers.h"

// The order first ready, first sent is a good one, and the best order differs from it in few pairs.
// So a search decides pairs: a move gives way to a transfer that another one delays, which reaches
// every order, swap by swap.
//
// Tests: tests/scheduler/contention_test.cpp (equal to simulate() after thousands of random moves).

namespace hios::scheduler::best {
namespace {

/// An arrangement as MessageRun reads it: slots are stages.
class PlanOfArrangement {
 public:
  explicit PlanOfArrangement(const Arrangement& arrangement) : arrangement_(arrangement) {}

  std::size_t stages() const { return arrangement_.slots(); }
  std::size_t operators() const { return arrangement_.problem().operators(); }
  bool used(std::size_t stage) const { return !arrangement_.empty(slot(stage)); }
  DeviceId device(std::size_t stage) const { return arrangement_.device(slot(stage)); }
  double cost_ms(std::size_t stage) const { return arrangement_.cost_ms(slot(stage)); }
  bool is_first(std::size_t stage) const { return arrangement_.before(slot(stage)) == kNoSlot; }
  std::size_t next(std::size_t stage) const {
    const Slot after = arrangement_.after(slot(stage));
    return after == kNoSlot ? stages() : after;
  }
  std::size_t stage_of(OpId op) const { return arrangement_.slot_of(op); }
  template <class Visit>
  void for_each_operator(std::size_t stage, const Visit& visit) const {
    for (const OpId op : arrangement_.operators(slot(stage))) visit(op);
  }
  template <class Visit>
  void for_each_output(OpId op, const Visit& visit) const {
    for (const SearchProblem::Link& output : arrangement_.problem().outputs(op)) {
      visit(output.edge, output.op);
    }
  }
  template <class Visit>
  void for_each_input(OpId op, const Visit& visit) const {
    for (const SearchProblem::Link& input : arrangement_.problem().inputs(op)) {
      visit(input.edge, input.op);
    }
  }
  const CostModel& costs() const { return arrangement_.problem().costs(); }

 private:
  static Slot slot(std::size_t stage) { return static_cast<Slot>(stage); }

  const Arrangement& arrangement_;
};

/// Calls visit(tensor, its predecessor) for each channel of every tensor that has one there, in the
/// order in which they are sent.
template <class Visit>
void for_each_successor(const MessageRun& run, const SearchProblem& problem, const Visit& visit) {
  constexpr std::uint32_t kNobody = 0xffffffffu;
  const bool ports = problem.platform().contention() == hios::Contention::kPort;
  const std::size_t channels = ports ? 2 : 1;
  std::uint32_t most = 0;
  for (const MessageRun::Tensor& tensor : run.tensors()) {
    most = std::max({most, tensor.channels[0], tensor.channels[1]});
  }
  std::vector<std::uint32_t> last(most + std::size_t{1}, kNobody);
  for (const std::uint32_t t : run.sent()) {
    for (std::size_t c = 0; c < channels; ++c) {
      std::uint32_t& before = last[run.tensors()[t].channels[c]];
      if (before != kNobody) visit(t, before);
      before = t;
    }
  }
}

PlannedTransfer transfer_of(const MessageRun::Tensor& tensor) {
  return {tensor.producer, tensor.to};
}

}  // namespace

bool MessageTiming::update(const Arrangement& arrangement, const std::vector<double>& tail_ms,
                           double limit_ms) {
  const PlanOfArrangement plan(arrangement);
  const TransferOrder order{{}, arrangement.precedences().all()};
  return run_.run(plan, order, [&](std::size_t stage, double end_ms) {
    return end_ms + tail_ms[stage] > limit_ms;
  });
}

void MessageTiming::keep(const Arrangement& arrangement, const std::vector<double>& tail_ms) {
  const SearchProblem& problem = arrangement.problem();
  delays_.clear();
  if (!problem.links_contend()) return;
  for_each_successor(run_, problem, [&](std::uint32_t later, std::uint32_t earlier) {
    const MessageRun::Tensor& tensor = run_.tensors()[later];
    const MessageRun::Tensor& before = run_.tensors()[earlier];
    if (tensor.start_ms <= tensor.ready_ms) return;
    if (before.start_ms + before.occupied_ms < tensor.start_ms) return;  // the other port's
    double rest = 0;
    for (const SearchProblem::Link& output : problem.outputs(tensor.producer)) {
      const Slot to = arrangement.slot_of(output.op);
      if (arrangement.device(to) != tensor.to) continue;
      rest = std::max(rest, arrangement.cost_ms(to) + tail_ms[to]);
    }
    delays_.push_back(
        {transfer_of(tensor), transfer_of(before), tensor.start_ms + tensor.occupied_ms + rest});
  });
}

std::vector<PlannedTransfer> MessageTiming::order() const {
  std::vector<PlannedTransfer> order;
  for (const std::uint32_t t : run_.sent()) order.push_back(transfer_of(run_.tensors()[t]));
  return order;
}

std::vector<TransferPrecedence> MessageTiming::inversions(
    const Arrangement& arrangement, std::span<const PlannedTransfer> order) const {
  std::map<PlannedTransfer, std::size_t> position;
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<TransferPrecedence> found;
  for_each_successor(run_, arrangement.problem(), [&](std::uint32_t later, std::uint32_t earlier) {
    const PlannedTransfer second = transfer_of(run_.tensors()[later]);
    const PlannedTransfer first = transfer_of(run_.tensors()[earlier]);
    if (position[second] < position[first]) found.push_back({second, first});
  });
  return found;
}

Schedule schedule_with_order(const Arrangement& arrangement) {
  Schedule schedule = arrangement.schedule();
  if (arrangement.precedences().empty()) return schedule;
  const std::vector<double> no_tails(arrangement.slots(), 0);
  MessageTiming timing(arrangement.problem());
  if (!timing.update(arrangement, no_tails, kInfinity)) {
    throw std::logic_error("best: transfers of a kept arrangement deadlock");
  }
  schedule.transfers = timing.order();
  return schedule;
}

// Each round adds precedences that agree with the order, so they never deadlock, and there are
// finitely many. Without a transfer that directly follows a later one on its channel, every channel
// carries the order.
void impose(Arrangement& arrangement, std::span<const PlannedTransfer> order) {
  const std::vector<double> no_tails(arrangement.slots(), 0);
  MessageTiming timing(arrangement.problem());
  for (bool changed = true; changed;) {
    changed = false;
    timing.update(arrangement, no_tails, kInfinity);
    for (const TransferPrecedence& each : timing.inversions(arrangement, order)) {
      changed = arrangement.precedences().add(each) || changed;
    }
    arrangement.keep();
  }
}

}  // namespace hios::scheduler::best
