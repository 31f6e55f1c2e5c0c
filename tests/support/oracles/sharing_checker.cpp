#include "support/oracles/sharing_checker.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace hios::test {
namespace {

/// A step of a rank that reads or writes bytes of a shared arena.
struct SharedUse {
  std::size_t rank = 0, step = 0;
  ByteRange bytes;
  bool writes = false;
};
using SharedUses = std::vector<SharedUse>;
using Sharers = std::vector<std::size_t>;

/// Returns the ranks of each shared arena: those that exchange a message without bytes.
std::vector<Sharers> sharers_of(const std::vector<RankPlan>& plans) {
  Sharers of(plans.size());
  for (std::size_t rank = 0; rank < of.size(); ++rank) of[rank] = rank;
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    for (const PlannedMessage& message : plans[rank].sends) {
      if (!message.shared) continue;
      std::ranges::replace(of, std::size_t{of[message.peer.index()]}, of[rank]);
    }
  }
  std::map<std::size_t, Sharers> found;
  for (std::size_t rank = 0; rank < of.size(); ++rank) found[of[rank]].push_back(rank);
  std::vector<Sharers> all;
  for (const auto& [number, ranks] : found) all.push_back(ranks);
  return all;
}

class SharingJudge {
 public:
  SharingJudge(const CoarseGraph& coarse, const std::vector<RankPlan>& plans,
               const PlansOrder& order, const Sharers& sharers)
      : coarse_(coarse), plans_(plans), order_(order) {
    for (const std::size_t rank : sharers) add_uses(rank);
  }

  void judge(std::vector<std::string>& messages) {
    for (const auto& [region, uses] : uses_) {
      if (!reads_follow_writes(uses)) {
        messages.push_back("a read of shared bytes before their write, in region " +
                           std::to_string(region));
      }
      for (const auto& [other, others] : uses_) {
        if (other <= region || follows(uses, others) || follows(others, uses)) continue;
        messages.push_back("regions " + std::to_string(region) + " and " + std::to_string(other) +
                           " have the same shared bytes at the same time");
      }
    }
  }

 private:
  void add_uses(std::size_t rank) {
    const RankPlan& plan = plans_[rank];
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      if (const auto* start = std::get_if<StartSend>(&plan.steps[step])) {
        const PlannedMessage& send = plan.sends[start->send];
        // A message with bytes may read them until the end of the iteration.
        if (!send.shared) add(rank, plan.steps.size(), send.op, false);
      }
      const auto* compute = std::get_if<Compute>(&plan.steps[step]);
      if (compute == nullptr) continue;
      for (const Group& group : plan.stages[compute->stage].groups) {
        for (const OpId op : group) {
          add(rank, step, op, true);
          for (const EdgeId edge : coarse_.graph.in_edges(op)) {
            add(rank, step, coarse_.graph.edge(edge).from, false);
          }
        }
      }
    }
  }

  void add(std::size_t rank, std::size_t step, OpId op, bool writes) {
    const RankPlan& plan = plans_[rank];
    if (plan.slot_of[op.index()] == SIZE_MAX || !plan.slot(op).shared) return;
    const Slot& slot = plan.slot(op);
    uses_[coarse_.place_of(op).region].push_back(
        {rank, step, {slot.offset, slot.offset + slot.size_bytes()}, writes});
  }

  /// Returns true if the one step has certainly ended when the other begins.
  bool before(const SharedUse& one, const SharedUse& other) {
    if (one.rank == other.rank) return one.step < other.step;
    const auto [known, is_new] = certain_.try_emplace({other.rank, other.step});
    if (is_new) known->second = order_.certain_before(other.rank, other.step);
    return known->second[one.rank] > one.step;
  }

  static bool meet(const SharedUse& a, const SharedUse& b) {
    return !common(a.bytes, b.bytes).empty();
  }

  bool reads_follow_writes(const SharedUses& uses) {
    return std::ranges::all_of(uses, [&](const SharedUse& read) {
      return read.writes || std::ranges::all_of(uses, [&](const SharedUse& write) {
               const bool same_stage = write.rank == read.rank && write.step == read.step;
               return !write.writes || !meet(read, write) || same_stage || before(write, read);
             });
    });
  }

  /// Returns true if all uses of the one have ended before the other writes to their bytes.
  bool follows(const SharedUses& old, const SharedUses& next) {
    return std::ranges::all_of(old, [&](const SharedUse& use) {
      return std::ranges::all_of(next, [&](const SharedUse& other) {
        return !other.writes || !meet(use, other) || before(use, other);
      });
    });
  }

  const CoarseGraph& coarse_;
  const std::vector<RankPlan>& plans_;
  const PlansOrder& order_;
  std::map<std::size_t, SharedUses> uses_;  // by region
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> certain_;
};

}  // namespace

std::vector<std::string> sharing_findings(const CoarseGraph& coarse,
                                          const std::vector<RankPlan>& plans,
                                          const PlansOrder& order) {
  std::vector<std::string> messages;
  for (const Sharers& sharers : sharers_of(plans)) {
    SharingJudge(coarse, plans, order, sharers).judge(messages);
  }
  return messages;
}

}  // namespace hios::test
