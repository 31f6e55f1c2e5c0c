#include "support/oracles/plans_order.h"

#include <algorithm>
#include <variant>

namespace hios::test {

PlansOrder::PlansOrder(const CoarseGraph& coarse, const std::vector<RankPlan>& plans)
    : plans_(plans) {
  for (const RankPlan& plan : plans) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) note(coarse, plan, i);
  }
}

void PlansOrder::note(const CoarseGraph& coarse, const RankPlan& plan, std::size_t step) {
  if (const auto* start = std::get_if<StartSend>(&plan.steps[step])) {
    const PlannedMessage& send = plan.sends[start->send];
    MessageEnds& ends = messages_[{plan.rank.index(), send.peer.index(), send.tag}];
    ends.started = step;
    ends.sent_bytes = send.size_bytes();
    ends.name = coarse.graph.op(send.op).name;
  } else if (const auto* await = std::get_if<AwaitReceive>(&plan.steps[step])) {
    const PlannedMessage& receive = plan.receives[await->receive];
    MessageEnds& ends = messages_[{receive.peer.index(), plan.rank.index(), receive.tag}];
    ends.awaited = step;
    ends.received_bytes = receive.size_bytes();
    ends.name = coarse.graph.op(receive.op).name;
  }
}

std::vector<std::size_t> PlansOrder::certain_before(std::size_t rank, std::size_t step) const {
  std::vector<std::size_t> done(plans_.size(), 0);
  done[rank] = step;
  if (step < plans_[rank].steps.size()) raise(done, rank, step);
  for (bool moved = true; moved;) {
    const std::vector<std::size_t> before = done;
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      for (std::size_t i = 0; i < before[r]; ++i) raise(done, r, i);
    }
    moved = done != before;
  }
  return done;
}

/// Adds what a rank that has awaited a message knows of its sender.
void PlansOrder::raise(std::vector<std::size_t>& done, std::size_t rank, std::size_t step) const {
  const auto* await = std::get_if<AwaitReceive>(&plans_[rank].steps[step]);
  if (await == nullptr) return;
  const PlannedMessage& receive = plans_[rank].receives[await->receive];
  const MessageEnds& ends = messages_.at({receive.peer.index(), rank, receive.tag});
  done[receive.peer.index()] = std::max(done[receive.peer.index()], *ends.started + 1);
}

}  // namespace hios::test
