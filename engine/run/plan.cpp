// A plan is made in four passes, all over data that every rank has, so that ranks need not talk:
//
//  1. Order. The stages of all devices are put into an order in which each comes after all that it
//     waits for, and each learns which stages of *other* devices have certainly begun before it
//     computes (a vector clock: it joins the clocks of the stages whose tensors it awaited).
//  2. Messages. One for each tensor and rank that needs it, tagged with the producer's OpId. Those
//     of one stage leave in the order of the schedule's list of transfers; without one, in that
//     in which their consumers come up. Across stages a tensor leaves as soon as it is there,
//     whatever the list says: holding it back would gain nothing that MPI promises.
//  3. Lifetimes. Time is counted in instants: a stage of several groups is one instant, since its
//     groups run at the same time and in no known order; a stage of one group has an instant for
//     each operator. A tensor lives from the instant that writes it to the last that reads it here.
//     A received tensor lives from the start, because receives are posted then. A graph output
//     lives to the end. A tensor that is sent lives until the clock proves that every receiver has
//     begun the stage that waited for it: from then on AwaitSend ends at once. (Its place could be
//     freed earlier by waiting for the peer, but a peer that computes makes no progress with
//     messages: we would trade latency for memory.)
//     With several inferences in flight, what travels lives all the time, in as many places.
//  4. Places (engine/backend/arena.h) and steps. Where the graph divides inputs, the batches of an
//     operator share one place, which lives as long as any of them.
//
// Cost: linear in stages, edges and devices, apart from the placing. No deadlock: every rank posts
// all receives before its first step, so every send ends; waits for receives follow the order of
// pass 1. Tests: tests/engine/run/plan_test.cpp runs plans symbolically, with messages that arrive
// at the worst moment; executor_test.cpp runs random ones with buffers poisoned.
#include "engine/run/plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include "engine/backend/arena.h"
#include "hios/schedule/assignment.h"

namespace hios {
namespace {

// Pass 1.
class StageOrder {
 public:
  StageOrder(const Graph& graph, const Schedule& schedule)
      : graph_(graph), schedule_(schedule), assignment_(graph.size(), schedule) {
    const std::size_t devices = schedule.devices.size();
    clocks_.resize(devices);
    levels_.resize(devices);
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t d = 0; d < devices; ++d) {
        while (begin_next(d)) moved = true;
      }
    }
    for (std::size_t d = 0; d < devices; ++d) {
      if (clocks_[d].size() != schedule.devices[d].size()) {
        throw std::logic_error(
            "a plan of a schedule whose devices wait for each other in a circle");
      }
    }
  }

  const AssignedTo& of(OpId op) const { return assignment_[op]; }
  // The longest chain of stages that must begin before this one.
  std::size_t level(std::size_t device, std::size_t stage) const { return levels_[device][stage]; }
  // How many stages of device `other` have begun when stage `stage` of `device` begins.
  std::size_t begun(std::size_t device, std::size_t stage, std::size_t other) const {
    return clocks_[device][stage][other];
  }

 private:
  // Orders the next stage of a device, if all that it waits for has been ordered.
  bool begin_next(std::size_t d) {
    const std::size_t s = clocks_[d].size();
    if (s == schedule_.devices[d].size()) return false;
    std::vector<std::size_t> clock(schedule_.devices.size(), 0);
    std::size_t level = 0;
    if (s > 0) {
      clock = clocks_[d][s - 1];
      level = levels_[d][s - 1] + 1;
    }
    for (const Group& group : schedule_.devices[d][s].groups) {
      for (const OpId op : group) {
        for (const EdgeId edge : graph_.in_edges(op)) {
          const AssignedTo& from = of(graph_.edge(edge).from);
          const std::size_t other = from.device.index();
          if (other == d) continue;
          if (from.stage >= clocks_[other].size()) return false;
          const auto& known = clocks_[other][from.stage];
          for (std::size_t e = 0; e < clock.size(); ++e) clock[e] = std::max(clock[e], known[e]);
          level = std::max(level, levels_[other][from.stage] + 1);
        }
      }
    }
    clock[d] = s + 1;
    clocks_[d].push_back(std::move(clock));
    levels_[d].push_back(level);
    return true;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  Assignment assignment_;
  std::vector<std::vector<std::vector<std::size_t>>> clocks_;  // device, stage, other device
  std::vector<std::vector<std::size_t>> levels_;               // device, stage
};

// Passes 2 to 4 for one rank.
class Planner {
 public:
  Planner(const CoarseGraph& coarse, const Schedule& schedule, Rank rank,
          const PlanOptions& options)
      : coarse_(coarse),
        graph_(coarse.graph),
        options_(options),
        device_(rank.index()),
        order_(graph_, schedule) {
    plan_.rank = rank;
    plan_.in_flight = options.in_flight;
    plan_.inputs = options.inputs;
    plan_.tags = static_cast<int>(graph_.size());
    plan_.stages = schedule.devices.at(device_);
    plan_.slot_of.assign(graph_.size(), SIZE_MAX);
    for (std::size_t i = 0; i < schedule.transfers.size(); ++i) {
      turn_.emplace(schedule.transfers[i], i);
    }
  }

  RankPlan plan() && {
    count_instants();
    plan_messages();
    if (!plan_.sends.empty() || !plan_.receives.empty()) plan_.places = options_.in_flight;
    plan_slots();
    plan_steps();
    return std::move(plan_);
  }

 private:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  bool here(OpId op) const { return order_.of(op).device.index() == device_; }
  std::size_t stage_of(OpId op) const { return order_.of(op).stage; }

  template <class Function>
  void for_each_op(std::size_t stage, Function&& function) const {
    for (const Group& group : plan_.stages[stage].groups) {
      for (const OpId op : group) function(op);
    }
  }

  void count_instants() {
    instant_of_.assign(graph_.size(), 0);
    std::size_t now = 0;
    for (const Stage& stage : plan_.stages) {
      begin_instant_.push_back(now);
      const bool in_order = stage.groups.size() == 1;
      for (const Group& group : stage.groups) {
        for (std::size_t i = 0; i < group.size(); ++i) {
          instant_of_[group[i].index()] = in_order ? now + i : now;
        }
      }
      now += in_order ? stage.groups.front().size() : 1;
    }
    begin_instant_.push_back(now);
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

  // Of an operator's output, what its consumers on a device read.
  InputRange read_on(std::size_t device, OpId op) const {
    InputRange read = {std::numeric_limits<std::int64_t>::max(), 0};
    for (const EdgeId edge : graph_.out_edges(op)) {
      const OpId to = graph_.edge(edge).to;
      if (order_.of(to).device.index() != device) continue;
      const InputRange both = common(made_by(op), made_by(to));
      read = {std::min(read.begin, both.begin), std::max(read.end, both.end)};
    }
    return read;
  }

  InputRange made_by(OpId op) const { return graph_.batch(op).inputs; }

  Bytes size_of(OpId op, const InputRange& inputs) const {
    return graph_.op(op).memory_bytes / static_cast<Bytes>(made_by(op).size()) *
           static_cast<Bytes>(inputs.size());
  }

  // From or to the peer; `consumer` is the device that receives it.
  PlannedMessage message(OpId op, std::size_t peer, std::size_t stage, std::size_t consumer) const {
    const InputRange read = read_on(consumer, op);
    return {op, Rank(peer), static_cast<int>(op.index()), size_of(op, read), stage, read};
  }

  void plan_messages() {
    free_stage_.assign(graph_.size(), 0);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      // Who needs it first gets it first; of equals the smaller, which delays the other less.
      std::vector<std::tuple<std::size_t, std::size_t, Bytes, OpId, std::size_t>> leaving;
      for_each_op(s, [&](OpId op) {
        const auto needs = first_needs(op);
        for (std::size_t peer = 0; peer < needs.size(); ++peer) {
          if (peer == device_ || needs[peer] == kNever) continue;
          leaving.emplace_back(turn(op, peer), order_.level(peer, needs[peer]),
                               graph_.op(op).memory_bytes, op, peer);
          free_stage_[op.index()] =
              std::max(free_stage_[op.index()], stage_after_receipt(s, peer, needs[peer]));
        }
      });
      std::sort(leaving.begin(), leaving.end());
      for (const auto& [turn, level, size, op, peer] : leaving) {
        plan_.sends.push_back(message(op, peer, s, peer));
      }
      for_each_op(s, [&](OpId op) {
        for (const EdgeId edge : graph_.in_edges(op)) {
          const OpId from = graph_.edge(edge).from;
          if (here(from) || plan_.slot_of[from.index()] != SIZE_MAX) continue;
          plan_.slot_of[from.index()] = 0;  // known to come; plan_slots says where it lies
          plan_.receives.push_back(message(from, order_.of(from).device.index(), s, device_));
        }
      });
    }
  }

  // Its place in the schedule's list; the same for all where there is none.
  std::size_t turn(OpId op, std::size_t peer) const {
    const auto found = turn_.find({op, DeviceId(peer)});
    return found == turn_.end() ? turn_.size() : found->second;
  }

  // The first stage here, after `stage`, before which the peer has certainly begun its stage
  // `needed`, and so has received what it waited for.
  std::size_t stage_after_receipt(std::size_t stage, std::size_t peer, std::size_t needed) const {
    for (std::size_t s = stage + 1; s < plan_.stages.size(); ++s) {
      if (order_.begun(device_, s, peer) > needed) return s;
    }
    return plan_.stages.size();
  }

  void add_slot(OpId op, bool received) {
    const InputRange inputs = received ? read_on(device_, op) : made_by(op);
    plan_.slot_of[op.index()] = plan_.slots.size();
    plan_.slots.push_back({op, 0, size_of(op, inputs), received, inputs});
    const Slot& slot = plan_.slots.back();
    plan_.all_tensors_bytes +=
        aligned_size(slot.size_bytes) * (has_places_in_turn(slot) ? options_.in_flight : 1);
  }

  Lifetime lifetime(const Slot& slot) const {
    const std::size_t end = begin_instant_.back() - 1;
    Lifetime life{slot.size_bytes, 0, 0};
    if (!slot.received) life.first = life.last = instant_of_[slot.op.index()];
    for (const EdgeId edge : graph_.out_edges(slot.op)) {
      const OpId to = graph_.edge(edge).to;
      if (here(to)) life.last = std::max(life.last, instant_of_[to.index()]);
    }
    if (!slot.received && free_stage_[slot.op.index()] > 0) {
      life.last = std::max(life.last, begin_instant_[free_stage_[slot.op.index()]] - 1);
    }
    if (options_.keep_all || coarse_.is_output(slot.op)) life.last = end;
    if (has_places_in_turn(slot)) life = {slot.size_bytes, 0, end};
    return life;
  }

  // With several inferences in flight, what travels is on its way while others are computed.
  bool has_places_in_turn(const Slot& slot) const {
    return options_.in_flight > 1 && (slot.received || free_stage_[slot.op.index()] > 0);
  }

  // Slots that lie behind each other: those of the batches of one operator.
  struct Place {
    InputRange inputs;
    Bytes bytes_per_input;
    Lifetime life;
    bool in_turn;
  };

  // From the first of its slots to the last, however many are between.
  static void join(Place& place, const Slot& slot, const Lifetime& life) {
    place.inputs.begin = std::min(place.inputs.begin, slot.inputs.begin);
    place.inputs.end = std::max(place.inputs.end, slot.inputs.end);
    place.life.first = std::min(place.life.first, life.first);
    place.life.last = std::max(place.life.last, life.last);
    place.life.size_bytes = place.bytes_per_input * static_cast<Bytes>(place.inputs.size());
  }

  static Bytes stride(const Place& place) { return aligned_size(place.life.size_bytes); }

  void place_slots() {
    std::vector<Place> places;
    std::vector<std::size_t> place_of;        // by slot
    std::map<OpId, std::size_t> whole_place;  // by operator of the whole graph
    for (const Slot& slot : plan_.slots) {
      const Lifetime life = lifetime(slot);
      const auto [known, is_new] = whole_place.emplace(graph_.batch(slot.op).op, places.size());
      place_of.push_back(known->second);
      if (is_new) {
        places.push_back({slot.inputs, slot.bytes_per_input(), life, has_places_in_turn(slot)});
      } else {
        join(places[known->second], slot, life);
        places[known->second].in_turn |= has_places_in_turn(slot);
      }
    }
    std::vector<Lifetime> lifetimes;
    for (const Place& place : places) {
      lifetimes.push_back(place.life);
      if (place.in_turn) lifetimes.back().size_bytes = stride(place) * options_.in_flight;
    }
    const ArenaLayout layout = place_in_arena(lifetimes);
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
      Slot& slot = plan_.slots[i];
      const Place& place = places[place_of[i]];
      slot.offset =
          layout.offsets[place_of[i]] +
          static_cast<Bytes>(slot.inputs.begin - place.inputs.begin) * place.bytes_per_input;
      if (place.in_turn) slot.stride = stride(place);
    }
    plan_.arena_bytes = layout.peak_bytes;
  }

  void plan_slots() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      for_each_op(s, [&](OpId op) {
        add_slot(op, false);
        if (coarse_.is_output(op)) plan_.outputs.push_back(op);
      });
    }
    for (const PlannedMessage& receive : plan_.receives) add_slot(receive.op, true);
    place_slots();
  }

  bool share_bytes(OpId a, OpId b) const {
    const Slot& x = plan_.slot(a);
    const Slot& y = plan_.slot(b);
    return x.offset < y.offset + y.size_bytes && y.offset < x.offset + x.size_bytes;
  }

  void plan_steps() {
    std::vector<bool> awaited(plan_.sends.size(), false);
    std::size_t send = 0, receive = 0;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      for (; receive < plan_.receives.size() && plan_.receives[receive].stage == s; ++receive) {
        plan_.steps.push_back(AwaitReceive{receive});
      }
      for (std::size_t i = 0; i < send; ++i) {
        bool overwritten = false;
        for_each_op(
            s, [&](OpId op) { overwritten = overwritten || share_bytes(op, plan_.sends[i].op); });
        if (!overwritten || awaited[i]) continue;
        awaited[i] = true;
        plan_.steps.push_back(AwaitSend{i});
      }
      plan_.steps.push_back(Compute{s});
      for (; send < plan_.sends.size() && plan_.sends[send].stage == s; ++send) {
        plan_.steps.push_back(StartSend{send});
      }
    }
  }

  const CoarseGraph& coarse_;
  const Graph& graph_;
  const PlanOptions& options_;
  std::size_t device_;
  StageOrder order_;
  std::map<PlannedTransfer, std::size_t> turn_;
  RankPlan plan_;
  std::vector<std::size_t> instant_of_;     // by OpId, of operators that run here
  std::vector<std::size_t> begin_instant_;  // by stage, and the end of the last
  // By OpId: the stage from which on every receiver has it; 0 where it is not sent.
  std::vector<std::size_t> free_stage_;
};

}  // namespace

const Slot& RankPlan::slot(OpId op) const { return slots[slot_of[op.index()]]; }

RankPlan plan_rank(const CoarseGraph& coarse, const Schedule& schedule, Rank rank,
                   const PlanOptions& options) {
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
