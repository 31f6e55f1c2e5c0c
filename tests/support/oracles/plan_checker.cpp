#include "support/oracles/plan_checker.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/oracles/plans_order.h"
#include "support/oracles/sharing_checker.h"

namespace hios::test {
namespace {

class Follower {
 public:
  Follower(const CoarseGraph& coarse, const RankPlan& plan)
      : coarse_(coarse),
        graph_(coarse.graph),
        plan_(plan),
        holds_(plan.slots.size(), Holds::kNothing) {}

  std::vector<std::string> follow(bool keep_all) {
    check_slots();
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
      if (plan_.slots[i].received) holds_[i] = Holds::kIncoming;
    }
    sends_.assign(plan_.sends.size(), Send::kIdle);
    for (const Step& step : plan_.steps) {
      std::visit([&](const auto& s) { take(s); }, step);
    }
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      report_if(sends_[i] == Send::kIdle, "never sent: " + name(plan_.sends[i].op));
    }
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
      report_if(holds_[i] == Holds::kIncoming, "never awaited: " + name(plan_.slots[i].op));
      const bool output = graph_.out_edges(plan_.slots[i].op).empty();
      report_if((keep_all || output) && holds_[i] != Holds::kTensor,
                "lost before the end: " + name(plan_.slots[i].op));
    }
    return messages_;
  }

 private:
  enum class Holds { kNothing, kIncoming, kTensor };
  enum class Send { kIdle, kUnderWay, kDone };

  void report_if(bool wrong, const std::string& text) {
    if (wrong) messages_.push_back(text);
  }
  const std::string& name(OpId op) const { return graph_.op(op).name; }

  /// Shared tensors that have the same bytes at other times are judged by all plans together.
  bool share_bytes(const Slot& a, const Slot& b) const {
    if (a.shared != b.shared) return false;
    if (a.shared && coarse_.place_of(a.op).region != coarse_.place_of(b.op).region) return false;
    return a.offset < b.offset + b.size_bytes() && b.offset < a.offset + a.size_bytes();
  }

  void check_slots() {
    std::map<std::size_t, Bytes> first;  // of each region
    for (const Slot& slot : plan_.slots) {
      const Place place = coarse_.place_of(slot.op);
      const Bytes begin = slot.offset - slot.bytes.begin - place.begin;  // wraps, and back again
      report_if(begin % 64 != 0, "misaligned: " + name(slot.op));
      report_if(first.emplace(place.region, begin).first->second != begin,
                "away from its region: " + name(slot.op));
      report_if(
          slot.offset + slot.size_bytes() > (slot.shared ? plan_.shared_bytes : plan_.arena_bytes),
          "outside its memory: " + name(slot.op));
      report_if(slot.received ? slot.bytes.end > graph_.op(slot.op).memory_bytes
                              : slot.bytes != ByteRange{0, graph_.op(slot.op).memory_bytes},
                "wrong size: " + name(slot.op));
    }
  }

  std::vector<OpId> inputs(OpId op) const {
    std::vector<OpId> result;
    for (const EdgeId edge : graph_.in_edges(op)) result.push_back(graph_.edge(edge).from);
    return result;
  }

  void read(OpId op, const ByteRange& bytes, const std::string& by) {
    const std::size_t slot = plan_.slot_of[op.index()];
    report_if(slot == SIZE_MAX || holds_[slot] != Holds::kTensor ||
                  common(bytes, plan_.slots[slot].bytes) != bytes,
              by + " reads " + name(op) + ", which is not in memory");
  }

  void write(OpId op) {
    const std::size_t mine = plan_.slot_of[op.index()];
    for (std::size_t other = 0; other < plan_.slots.size(); ++other) {
      if (!share_bytes(plan_.slots[mine], plan_.slots[other])) continue;
      const std::string& victim = name(plan_.slots[other].op);
      report_if(holds_[other] == Holds::kIncoming, name(op) + " writes where " + victim + " lands");
      for (std::size_t i = 0; i < sends_.size(); ++i) {
        report_if(plan_.sends[i].op == plan_.slots[other].op && sends_[i] == Send::kUnderWay,
                  name(op) + " writes over " + victim + ", which is being sent");
      }
      holds_[other] = Holds::kNothing;
    }
    holds_[mine] = Holds::kTensor;
  }

  bool is_loaded(OpId op) const {
    for (const auto& lane : plan_.lanes) {
      for (const PlannedLoad& load : lane) {
        if (std::ranges::find(load.readers, op) != load.readers.end()) return true;
      }
    }
    return false;
  }

  void take(const AwaitReceive& step) {
    holds_[plan_.slot_of[plan_.receives[step.receive].op.index()]] = Holds::kTensor;
  }
  void take(const AwaitSend& step) {
    report_if(sends_[step.send] != Send::kUnderWay,
              "an AwaitSend of a message that is not being sent");
    sends_[step.send] = Send::kDone;
  }
  void take(const AwaitLoad& step) {
    const auto& lane = plan_.lanes[step.lane];
    for (std::size_t i = 0; i <= step.load; ++i) {
      loaded_.insert(lane[i].readers.begin(), lane[i].readers.end());
    }
  }
  void take(const AwaitOtherLoads& step) {
    report_if(step.stage != 0, "a wait for all loads in the midst of a plan");
  }
  void take(const Evict& step) {
    for (const OpId reader : plan_.evictions[step.eviction].readers) evicted_.insert(reader);
  }
  void take(const StartSend& step) {
    report_if(sends_[step.send] != Send::kIdle, "sent twice");
    read(plan_.sends[step.send].op, plan_.sends[step.send].bytes, "a send");
    sends_[step.send] = Send::kUnderWay;
  }
  void take(const Compute& step) {
    const Stage& stage = plan_.stages[step.stage];
    for (const Group& a : stage.groups) {
      for (const Group& b : stage.groups) {
        if (&a != &b) check_groups(a, b);
      }
    }
    for (const Group& group : stage.groups) {
      for (const OpId op : group) {
        report_if(is_loaded(op) && !loaded_.contains(op), name(op) + " runs before its parameters");
        report_if(evicted_.contains(op), name(op) + " runs after its parameters were evicted");
        for (const EdgeId edge : graph_.in_edges(op)) {
          const OpId input = graph_.edge(edge).from;
          read(input, coarse_.read_by(edge), name(op));
          report_if(share_bytes(plan_.slot(op), plan_.slot(input)),
                    name(op) + " writes into its input " + name(input));
        }
        write(op);
      }
    }
  }

  // Group b may write to nothing that group a reads or writes.
  void check_groups(const Group& a, const Group& b) {
    for (const OpId consumer : a) {
      std::vector<OpId> used = inputs(consumer);
      used.push_back(consumer);
      for (const OpId writer : b) {
        for (const OpId tensor : used) {
          report_if(share_bytes(plan_.slot(writer), plan_.slot(tensor)),
                    name(writer) + " writes over " + name(tensor) + " of a group at the same time");
        }
      }
    }
  }

  const CoarseGraph& coarse_;
  const Graph& graph_;
  const RankPlan& plan_;
  std::vector<std::string> messages_;
  std::vector<Holds> holds_;  // by slot
  std::set<OpId> loaded_;     // whose parameters were awaited
  std::set<OpId> evicted_;    // whose parameters are gone
  std::vector<Send> sends_;
};

/// The contents of an arena: of each element its place, so that regions tell them apart.
class ContentFollower {
 public:
  ContentFollower(const CoarseGraph& coarse, const RankPlan& plan)
      : coarse_(coarse), plan_(plan), arena_(plan.arena_bytes / coarse.element_bytes) {}

  std::vector<std::string> follow() {
    for (const Step& step : plan_.steps) {
      if (const auto* await = std::get_if<AwaitReceive>(&step)) {
        write(plan_.slot(plan_.receives[await->receive].op));
      } else if (const auto* compute = std::get_if<Compute>(&step)) {
        for (const Group& group : plan_.stages[compute->stage].groups) {
          for (const OpId op : group) run(op);
        }
      } else if (const auto* start = std::get_if<StartSend>(&step)) {
        const PlannedMessage& send = plan_.sends[start->send];
        const Place place = coarse_.place_of(send.op);
        read(plan_.slot(send.op).offset_of(static_cast<std::int64_t>(send.bytes.begin)),
             {place.region, place.begin + send.bytes.begin}, send.size_bytes(), send.op, "a send");
      }
    }
    return messages_;
  }

 private:
  using Content = std::pair<std::size_t, Bytes>;  // region, counted from 1, and byte there

  void write(const Slot& slot) {
    const Place place = coarse_.place_of(slot.op);
    for (Bytes i = 0; i < slot.size_bytes(); i += coarse_.element_bytes) {
      const std::size_t at = (slot.offset + i) / coarse_.element_bytes;
      if (at >= arena_.size()) return;  // what was to be there is found missing
      arena_[at] = {place.region + 1, place.begin + slot.bytes.begin + i};
    }
  }

  void read(Bytes offset, const Place& place, Bytes size_bytes, OpId op, const std::string& by) {
    for (Bytes i = 0; i < size_bytes; i += coarse_.element_bytes) {
      const Content wanted{place.region + 1, place.begin + i};
      const std::size_t at = (offset + i) / coarse_.element_bytes;
      if (at < arena_.size() && arena_[at] == wanted) continue;
      messages_.push_back(by + " reads byte " + std::to_string(i) + " for " +
                          coarse_.graph.op(op).name + ", which is not there");
      return;
    }
  }

  void run(OpId op) {
    const OperatorLayers& layers = coarse_.layers(op);
    for (std::size_t i = 0; i < layers.inputs.size(); ++i) {
      const TensorId tensor = layers.inputs[i];
      const auto producer = coarse_.producer_for(tensor, op);
      if (!producer) continue;  // the model's input
      if (plan_.slot_of[producer->index()] == SIZE_MAX) {
        messages_.push_back(coarse_.graph.op(*producer).name + " has no slot");
        continue;
      }
      const Place place =
          coarse_.places.empty() ? coarse_.place_of(*producer) : coarse_.places.of(tensor);
      read(plan_.slot(*producer).offset_of(coarse_.distance(*producer, tensor, op)), place,
           coarse_.size_bytes(layers.input_shapes[i]), op, "an input");
    }
    write(plan_.slot(op));
  }

  const CoarseGraph& coarse_;
  const RankPlan& plan_;
  std::vector<Content> arena_;
  std::vector<std::string> messages_;
};

}  // namespace

std::vector<std::string> findings_in(const CoarseGraph& coarse, const RankPlan& plan,
                                     bool keep_all) {
  return Follower(coarse, plan).follow(keep_all);
}

std::vector<std::string> findings_in(const CoarseGraph& coarse,
                                     const std::vector<RankPlan>& plans) {
  std::vector<std::string> messages;
  const PlansOrder order(coarse, plans);
  for (const auto& [key, ends] : order.messages()) {
    if (!ends.started || !ends.awaited || ends.sent_bytes != ends.received_bytes) {
      messages.push_back("message without counterpart: " + ends.name);
    }
  }
  if (!messages.empty()) return messages;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    for (std::size_t i = 0; i < plans[rank].steps.size(); ++i) {
      if (std::holds_alternative<AwaitReceive>(plans[rank].steps[i]) &&
          order.certain_before(rank, i)[rank] > i) {
        messages.push_back("a deadlock through step " + std::to_string(i));
      }
      const auto* wait = std::get_if<AwaitSend>(&plans[rank].steps[i]);
      if (wait == nullptr) continue;
      const PlannedMessage& send = plans[rank].sends[wait->send];
      const MessageEnds& ends = order.messages().at({rank, send.peer.index(), send.tag});
      if (order.certain_before(rank, i)[send.peer.index()] <= *ends.awaited) {
        messages.push_back("rank " + std::to_string(rank) + " may have to wait until " + ends.name +
                           " is received");
      }
    }
  }
  const std::vector<std::string> shared = sharing_findings(coarse, plans, order);
  messages.insert(messages.end(), shared.begin(), shared.end());
  return messages;
}

std::vector<std::string> misreads_in(const CoarseGraph& coarse, const RankPlan& plan) {
  return ContentFollower(coarse, plan).follow();
}

// For each stage: the slots that it reads or writes, and those written before and read after it.
Bytes least_arena_bytes(const CoarseGraph& coarse, const RankPlan& plan) {
  const Graph& graph = coarse.graph;
  std::vector<std::size_t> made(graph.size(), 0), last_read(graph.size(), 0);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (const Group& group : plan.stages[s].groups) {
      for (const OpId op : group) {
        made[op.index()] = s;
        last_read[op.index()] = std::max(last_read[op.index()], s);
        for (const EdgeId edge : graph.in_edges(op)) {
          last_read[graph.edge(edge).from.index()] = s;
        }
      }
    }
  }
  Bytes most = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    Bytes sum = 0;
    for (const Slot& slot : plan.slots) {
      const bool output = graph.out_edges(slot.op).empty();
      if ((slot.received || made[slot.op.index()] <= s) &&
          (output || last_read[slot.op.index()] >= s)) {
        sum += (slot.size_bytes() + 63) / 64 * 64;
      }
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace hios::test
