#include "support/oracles/window_checker.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace hios::test {
namespace {

/// A step of a rank that reads or writes bytes of a window.
struct WindowUse {
  std::size_t rank = 0, step = 0;
  ByteRange bytes;
  bool writes = false;
};
using WindowUses = std::vector<WindowUse>;
using Sharers = std::vector<std::size_t>;

/// Returns the ranks of each window: those that exchange a message without bytes.
std::vector<Sharers> windows_of(const std::vector<RankPlan>& plans) {
  Sharers of(plans.size());
  for (std::size_t rank = 0; rank < of.size(); ++rank) of[rank] = rank;
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    for (const PlannedMessage& message : plans[rank].sends) {
      if (!message.in_window) continue;
      std::ranges::replace(of, std::size_t{of[message.peer.index()]}, of[rank]);
    }
  }
  std::map<std::size_t, Sharers> found;
  for (std::size_t rank = 0; rank < of.size(); ++rank) found[of[rank]].push_back(rank);
  std::vector<Sharers> all;
  for (const auto& [number, ranks] : found) all.push_back(ranks);
  return all;
}

class WindowJudge {
 public:
  WindowJudge(const CoarseGraph& coarse, const std::vector<RankPlan>& plans,
              const PlansOrder& order, const Sharers& sharers)
      : coarse_(coarse), plans_(plans), order_(order) {
    for (const std::size_t rank : sharers) add_uses(rank);
  }

  void judge(std::vector<std::string>& messages) {
    for (const auto& [region, uses] : uses_) {
      if (!reads_follow_writes(uses)) {
        messages.push_back("a read in a window before its write, in region " +
                           std::to_string(region));
      }
      for (const auto& [other, others] : uses_) {
        if (other <= region || follows(uses, others) || follows(others, uses)) continue;
        messages.push_back("regions " + std::to_string(region) + " and " + std::to_string(other) +
                           " at one place of a window at the same time");
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
        if (!send.in_window) add(rank, plan.steps.size(), send.op, false);
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
    if (plan.slot_of[op.index()] == SIZE_MAX || !plan.slot(op).in_window) return;
    const Slot& slot = plan.slot(op);
    uses_[coarse_.place_of(op).region].push_back(
        {rank, step, {slot.offset, slot.offset + slot.size_bytes()}, writes});
  }

  /// Returns true if the one step has certainly ended when the other begins.
  bool before(const WindowUse& one, const WindowUse& other) {
    if (one.rank == other.rank) return one.step < other.step;
    const auto [known, is_new] = certain_.try_emplace({other.rank, other.step});
    if (is_new) known->second = order_.certain_before(other.rank, other.step);
    return known->second[one.rank] > one.step;
  }

  static bool meet(const WindowUse& a, const WindowUse& b) {
    return !common(a.bytes, b.bytes).empty();
  }

  bool reads_follow_writes(const WindowUses& uses) {
    return std::ranges::all_of(uses, [&](const WindowUse& read) {
      return read.writes || std::ranges::all_of(uses, [&](const WindowUse& write) {
               const bool same_stage = write.rank == read.rank && write.step == read.step;
               return !write.writes || !meet(read, write) || same_stage || before(write, read);
             });
    });
  }

  /// Returns true if all uses of the one have ended before the other writes to their bytes.
  bool follows(const WindowUses& old, const WindowUses& next) {
    return std::ranges::all_of(old, [&](const WindowUse& use) {
      return std::ranges::all_of(next, [&](const WindowUse& other) {
        return !other.writes || !meet(use, other) || before(use, other);
      });
    });
  }

  const CoarseGraph& coarse_;
  const std::vector<RankPlan>& plans_;
  const PlansOrder& order_;
  std::map<std::size_t, WindowUses> uses_;  // by region
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> certain_;
};

}  // namespace

std::vector<std::string> window_findings(const CoarseGraph& coarse,
                                         const std::vector<RankPlan>& plans,
                                         const PlansOrder& order) {
  std::vector<std::string> messages;
  for (const Sharers& sharers : windows_of(plans)) {
    WindowJudge(coarse, plans, order, sharers).judge(messages);
  }
  return messages;
}

}  // namespace hios::test
