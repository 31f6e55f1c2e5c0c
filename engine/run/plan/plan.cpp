// A plan is made in four passes, all over data that every rank has, so that ranks need not talk:
//
//  1. Order of the stages of all devices (engine/run/plan/stage_order.h).
//  2. Messages. One for each tensor and rank that needs it, tagged with the producer's OpId. Those
//     of one stage leave in the order of the schedule's list of transfers; without a list, in the
//     order of their consumers. A tensor leaves as soon as its stage has ended, whatever the list
//     says about other stages: MPI promises no gain for a delay.
//  3. Lifetimes (engine/run/plan/slots/slot_layout.h). A tensor that is sent lives until the clock
//  proves
//     that every receiver has started the stage that waited for it: from then on AwaitSend ends at
//     once. (A wait for the peer could free its slot earlier, but a peer that computes makes no
//     progress with messages: that would trade latency for memory.)
//     With several inferences in flight, tensors that travel live all the time, in F buffers.
//     Where stages may run in any order, there are no instants: edges alone prove that a tensor is
//     not needed any more (engine/run/plan/edge_chains.h), here and where it was sent. So
//     AwaitSend ends at once here, too.
//     Tensors in memory that ranks share live until no rank reads them
//     (engine/run/plan/slots/shared_layout.h), and their messages have no bytes to wait for.
//  4. Slots (engine/backend/arena.h) and steps.
//
// Cost: linear in stages, edges and devices, apart from the arena's layout. No deadlock: every rank
// posts all receives before its first step, so every send ends; waits for receives follow the order
// of pass 1. Tests in tests/engine/run/: plan_test.cpp runs plans symbolically, with messages that
// arrive at the worst moment; executor_test.cpp runs random plans with poisoned buffers.
#include "engine/run/plan/plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "engine/backend/arena.h"
#include "engine/run/plan/edge_chains.h"
#include "engine/run/plan/slots/shared_layout.h"
#include "engine/run/plan/slots/slot_layout.h"
#include "engine/run/plan/stage_order.h"

namespace hios {
namespace {

// Passes 2 to 4 for one rank.
class Planner {
 public:
  Planner(const CoarseGraph& coarse, const Schedule& schedule, Rank rank,
          const PlanOptions& options)
      : coarse_(coarse),
        graph_(coarse.graph),
        schedule_(schedule),
        options_(options),
        device_(rank.index()),
        order_(graph_, schedule) {
    plan_.rank = rank;
    plan_.in_flight = options.in_flight;
    plan_.inputs = options.inputs;
    plan_.any_order = options.any_order;
    if (options.any_order) chains_.emplace(graph_, schedule, order_);
    if (!options.sharers.empty()) {
      shared_.emplace(coarse, schedule, order_, options.sharers, device_, !options.keep_all);
      plan_.shared_bytes = shared_->size_bytes();
      for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
        const bool shares = options.sharers[d] == options.sharers[device_];
        plan_.sharing_ranks += shares && !schedule.devices[d].empty() ? 1 : 0;
      }
    }
    plan_.tags = static_cast<int>(graph_.size());
    plan_.stages = schedule.devices.at(device_);
    plan_.slot_of.assign(graph_.size(), SIZE_MAX);
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
      position_.emplace(schedule.transfers[i], i);
    }
  }

  RankPlan plan() && {
    plan_messages();
    loads_ = plan_loads(graph_, schedule_, plan_.rank, options_.any_order);
    plan_.lanes = std::move(loads_.lanes);
    plan_.in_place = std::move(loads_.in_place);
    plan_.held = std::move(loads_.held);
    plan_.evictions = std::move(loads_.evictions);
    plan_.exchange = std::move(loads_.exchange);
    if (!plan_.sends.empty() || !plan_.receives.empty()) plan_.buffers = options_.in_flight;
    plan_slots();
    plan_steps();
    return std::move(plan_);
  }

 private:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  bool is_shared(OpId op) const { return shared_ && shared_->begin(op).has_value(); }
  bool here(OpId op) const { return order_.of(op).device.index() == device_; }
  std::size_t stage_of(OpId op) const { return order_.of(op).stage; }

  template <class Function>
  void for_each_op(std::size_t stage, Function&& function) const {
    for (const Group& group : plan_.stages[stage].groups) {
      for (const OpId op : group) function(op);
    }
  }

  // The stage on each device that first needs a tensor; kNever where none does.
  std::vector<std::size_t> first_needs(OpId op) const {
    std::vector<std::size_t> needs;
    for (const EdgeId edge : graph_.out_edges(op)) {
      const AssignedTo& to = order_.of(graph_.edge(edge).to);
      const std::size_t peer = to.device.index();
      if (needs.size() <= peer) needs.resize(peer + 1, kNever);
      needs[peer] = std::min(needs[peer], to.stage);
    }
    return needs;
  }

  // The bytes of an operator's output from the first to the last that a device's consumers read.
  ByteRange read_on(std::size_t device, OpId op) const {
    std::optional<ByteRange> read;
    for (const EdgeId edge : graph_.out_edges(op)) {
      if (order_.of(graph_.edge(edge).to).device.index() != device) continue;
      const ByteRange bytes = coarse_.read_by(edge);
      read = read ? hull(*read, bytes) : bytes;
    }
    return read.value_or(ByteRange{});
  }

  // The message from or to a peer, which device `consumer` receives, first for its stage `need`.
  PlannedMessage message(OpId op, std::size_t peer, std::size_t stage, std::size_t consumer,
                         std::size_t need) const {
    const auto tag = static_cast<int>(op.index());
    const std::size_t level = order_.level(consumer, need);
    const bool shared = is_shared(op) && options_.sharers[peer] == options_.sharers[device_];
    return {op, Rank(peer), tag, stage, read_on(consumer, op), level, stage_of(op) + 1, shared};
  }

  void plan_messages() {
    free_stage_.assign(graph_.size(), 0);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      // The consumer that needs a tensor first gets it first; of equals the smaller tensor is
      // first, which delays the other less.
      std::vector<std::tuple<std::size_t, std::size_t, Bytes, OpId, std::size_t>> leaving;
      for_each_op(s, [&](OpId op) {
        const auto needs = first_needs(op);
        for (std::size_t peer = 0; peer < needs.size(); ++peer) {
          if (peer == device_ || needs[peer] == kNever) continue;
          leaving.emplace_back(position(op, peer), order_.level(peer, needs[peer]),
                               graph_.op(op).memory_bytes, op, peer);
          free_stage_[op.index()] =
              std::max(free_stage_[op.index()], stage_after_receipt(s, peer, needs[peer]));
        }
      });
      std::sort(leaving.begin(), leaving.end());
      for (const auto& [position, level, size, op, peer] : leaving) {
        plan_.sends.push_back(message(op, peer, s, peer, first_needs(op)[peer]));
      }
      for_each_op(s, [&](OpId op) {
        for (const EdgeId edge : graph_.in_edges(op)) {
          const OpId from = graph_.edge(edge).from;
          if (here(from)) continue;
          std::size_t& receive = plan_.slot_of[from.index()];  // plan_slots sets the slot
          const bool is_first = receive == SIZE_MAX;
          if (is_first) {
            receive = plan_.receives.size();
            plan_.receives.push_back(message(from, order_.of(from).device.index(), s, device_, s));
          }
          if (is_first || options_.any_order) awaits_.emplace(s, receive);
        }
      });
    }
  }

  // A tensor's position in the schedule's list of transfers; the same for all without a list.
  std::size_t position(OpId op, std::size_t peer) const {
    const auto found = position_.find({op, DeviceId(peer)});
    return found == position_.end() ? position_.size() : found->second;
  }

  // The first stage here, after `stage`, before which the peer has certainly started its stage
  // `needed`, and so has received the tensor.
  std::size_t stage_after_receipt(std::size_t stage, std::size_t peer, std::size_t needed) const {
    for (std::size_t s = stage + 1; s < plan_.stages.size(); ++s) {
      if (order_.started(device_, s, peer) > needed) return s;
    }
    return plan_.stages.size();
  }

  void add_slot(OpId op, bool received) {
    const ByteRange bytes =
        received ? read_on(device_, op) : ByteRange{0, graph_.op(op).memory_bytes};
    plan_.slot_of[op.index()] = plan_.slots.size();
    plan_.slots.push_back({op, 0, received, is_shared(op), bytes});
  }

  void plan_slots() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      for_each_op(s, [&](OpId op) {
        add_slot(op, false);
        if (coarse_.is_output(op)) plan_.outputs.push_back(op);
      });
    }
    for (const PlannedMessage& receive : plan_.receives) add_slot(receive.op, true);
    const Instants instants(graph_.size(), plan_.stages);
    const SlotLayout layout(coarse_, options_, DeviceId(device_), instants, free_stage_,
                            chains_ ? &*chains_ : nullptr);
    for (Slot& slot : plan_.slots) {
      plan_.all_tensors_bytes +=
          aligned_size(slot.size_bytes()) * (layout.is_buffered(slot) ? options_.in_flight : 1);
      if (slot.shared) slot.offset = *shared_->begin(slot.op) + slot.bytes.begin;
    }
    plan_.arena_bytes = layout.lay_out(plan_.slots);
  }

  void plan_steps() {
    std::vector<bool> awaited(plan_.sends.size(), false);
    std::size_t send = 0;
    auto await = awaits_.begin();
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      for (; await != awaits_.end() && await->first == s; ++await) {
        plan_.steps.push_back(AwaitReceive{await->second, s});
      }
      for (std::size_t i = 0; i < send; ++i) {
        const Slot& sent = plan_.slot(plan_.sends[i].op);
        bool overwritten = false;
        for_each_op(s, [&](OpId op) {
          overwritten |= !sent.shared && plan_.slot(op).shares_bytes_with(sent);
        });
        if (!overwritten || awaited[i]) continue;
        awaited[i] = !options_.any_order;
        plan_.steps.push_back(AwaitSend{i});
      }
      if (s < loads_.waits.size()) {
        for (const auto& [lane, load] : loads_.waits[s]) {
          plan_.steps.push_back(AwaitLoad{lane, load, s});
        }
      }
      if ((s == 0 || options_.any_order) && !plan_.exchange.reports_from.empty()) {
        plan_.steps.push_back(AwaitOtherLoads{s});
      }
      plan_.steps.push_back(Compute{s});
      for (; send < plan_.sends.size() && plan_.sends[send].stage == s; ++send) {
        plan_.steps.push_back(StartSend{send});
      }
      for (std::size_t i = 0; i < plan_.evictions.size(); ++i) {
        if (plan_.evictions[i].stage == s) plan_.steps.push_back(Evict{i});
      }
    }
  }

  const CoarseGraph& coarse_;
  const Graph& graph_;
  const Schedule& schedule_;
  const PlanOptions& options_;
  std::size_t device_;
  StageOrder order_;
  std::optional<EdgeChains> chains_;    // for stages in any order
  std::optional<SharedLayout> shared_;  // where ranks share memory
  std::map<PlannedTransfer, std::size_t> position_;
  RankPlan plan_;
  std::set<std::pair<std::size_t, std::size_t>> awaits_;  // stages, and the receives they await
  PlannedLoads loads_;
  // By OpId: the stage from which on every receiver has it; 0 where it is not sent.
  std::vector<std::size_t> free_stage_;
};

}  // namespace

RankPlan plan_rank(const CoarseGraph& coarse, const Schedule& schedule, Rank rank,
                   const PlanOptions& options) {
  if (options.any_order && options.in_flight != 1) {
    throw std::logic_error("stages in any order, of several inferences in flight");
  }
  if (!options.sharers.empty() && (options.any_order || options.in_flight != 1)) {
    throw std::logic_error("shared memory for stages in any order, or of several inferences");
  }
  return Planner(coarse, schedule, rank, options).plan();
}

RankPlan of_copy(RankPlan plan, std::size_t first) {
  const auto moved = [&](Rank rank) { return Rank(first + rank.index()); };
  plan.rank = moved(plan.rank);
  for (PlannedMessage& message : plan.sends) message.peer = moved(message.peer);
  for (PlannedMessage& message : plan.receives) message.peer = moved(message.peer);
  return plan;
}

std::vector<Segment> cut_segments(std::span<const Step> steps) {
  std::vector<Segment> segments;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (!std::holds_alternative<Compute>(steps[step])) continue;
    if (segments.empty() || segments.back().end != step) segments.push_back({step, step});
    segments.back().end = step + 1;
  }
  return segments;
}

}  // namespace hios
