// Part of hios/evaluate/deadlock.h: deadlocks through the order of transfers.
//
// The graph has a node for each stage and each transfer. A stage waits for the stage before it on
// its device and for its inputs, each from a stage of its own device or a transfer. A transfer
// waits for its producer's stage, and for the transfers before it on its link, or on its two ports.
// The schedule runs to its end if and only if this graph has no cycle. A depth-first search
// backwards finds one where it meets a node on its own path.
// tests/hios/evaluate/contention_test.cpp compares the result with a simulator that gets stuck.

#include <algorithm>
#include <limits>
#include <map>

#include "hios/evaluate/deadlock.h"
#include "hios/schedule/transfers.h"

namespace hios {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

class TransferDeadlockSearch {
 public:
  TransferDeadlockSearch(const Graph& graph, const Platform& platform, const Schedule& schedule,
                         const Assignment& assignment)
      : graph_(graph), platform_(platform), schedule_(schedule), assignment_(assignment) {
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        stages_.push_back({DeviceId(d), s});
      }
    }
    order_transfers();
  }

  std::vector<Finding> run() {
    enum class Visit { kNew, kOpen, kDone };
    std::vector<Visit> visit(stages_.size() + schedule_.transfers.size(), Visit::kNew);
    for (std::size_t root = 0; root < visit.size(); ++root) {
      if (visit[root] != Visit::kNew) continue;
      std::vector<std::size_t> path{root};
      std::vector<std::vector<std::size_t>> left{waited_for(root)};
      visit[root] = Visit::kOpen;
      while (!path.empty()) {
        if (left.back().empty()) {
          visit[path.back()] = Visit::kDone;
          path.pop_back();
          left.pop_back();
          continue;
        }
        const std::size_t next = left.back().back();
        left.back().pop_back();
        if (visit[next] == Visit::kOpen) {
          path.erase(path.begin(), std::find(path.begin(), path.end(), next));
          return {report(path)};
        }
        if (visit[next] == Visit::kDone) continue;
        visit[next] = Visit::kOpen;
        path.push_back(next);
        left.push_back(waited_for(next));
      }
    }
    return {};
  }

 private:
  struct Node {
    DeviceId device;
    std::size_t stage = 0;
  };

  /// Lists, for each transfer, those directly before it on its link or ports.
  void order_transfers() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> last;
    const bool by_link = platform_.contention() == Contention::kLink;
    for (std::size_t t = 0; t < schedule_.transfers.size(); ++t) {
      const PlannedTransfer& transfer = schedule_.transfers[t];
      node_of_.emplace(transfer, stages_.size() + t);
      const std::uint64_t from = assignment_[transfer.producer].device.index();
      const std::uint64_t to = transfer.to.index();
      auto& before = before_.emplace_back();
      const auto take_turn = [&](std::uint64_t a, std::uint64_t b) {
        const auto [turn, is_first] = last.emplace(std::pair(a, b), t);
        if (!is_first) before.push_back(stages_.size() + turn->second);
        turn->second = t;
      };
      if (by_link) {
        take_turn(from, to);
      } else {
        take_turn(0, from);
        take_turn(1, to);
      }
    }
  }

  bool is_stage(std::size_t node) const { return node < stages_.size(); }
  const Stage& stage(std::size_t node) const {
    return schedule_.devices[stages_[node].device.index()][stages_[node].stage];
  }
  const PlannedTransfer& transfer(std::size_t node) const {
    return schedule_.transfers[node - stages_.size()];
  }

  std::vector<std::size_t> waited_for(std::size_t node) const {
    if (!is_stage(node)) {
      std::vector<std::size_t> nodes = before_[node - stages_.size()];
      nodes.push_back(assignment_.stage_number(transfer(node).producer));
      return nodes;
    }
    std::vector<std::size_t> nodes;
    if (stages_[node].stage > 0) nodes.push_back(node - 1);
    for (const Group& group : stage(node).groups) {
      for (const OpId op : group) {
        for (const EdgeId e : graph_.in_edges(op)) {
          const std::size_t input = input_of(graph_.edge(e).from, node);
          if (input != kNone) nodes.push_back(input);
        }
      }
    }
    return nodes;
  }

  /// Returns the node from which a stage gets a producer's output: a stage, a transfer, or none.
  std::size_t input_of(OpId producer, std::size_t node) const {
    const auto& assigned = assignment_.find(producer);
    if (!assigned) return kNone;
    const DeviceId here = stages_[node].device;
    if (assigned->device != here) {
      const auto listed = node_of_.find({producer, here});
      return listed == node_of_.end() ? assignment_.stage_number(producer) : listed->second;
    }
    const std::size_t from = assignment_.stage_number(producer);
    return from == node ? kNone : from;
  }

  /// Reports a cycle, which lists each node before the one that it waits for; the last waits for
  /// the first.
  Finding report(std::vector<std::size_t> cycle) const {
    const auto first = std::find_if(cycle.begin(), cycle.end(), [&](std::size_t node) {
      return !is_stage(node) && waits_for_transfer(node, cycle);
    });
    if (first != cycle.end()) std::rotate(cycle.begin(), first, cycle.end());
    constexpr std::size_t kShown = 6;
    std::string text = "cyclic wait: " + describe(cycle.front());
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i == kShown) {
        text += " … (" + std::to_string(cycle.size() - kShown) + " more)";
        break;
      }
      text += (i > 0 ? ", which " : " ") + waits_for(cycle[i], cycle[(i + 1) % cycle.size()]);
    }
    Finding finding{Rule::kCycle, std::move(text), {}, {}, {}, {}};
    if (is_stage(cycle.front())) {
      finding.device = stages_[cycle.front()].device;
      finding.stage = stages_[cycle.front()].stage;
    } else {
      finding.op = transfer(cycle.front()).producer;
      finding.device = transfer(cycle.front()).to;
      finding.transfer = cycle.front() - stages_.size();
    }
    return finding;
  }

  /// Returns true if the transfer waits for another one, which is the best beginning of a report.
  bool waits_for_transfer(std::size_t node, const std::vector<std::size_t>& cycle) const {
    const auto at = std::find(cycle.begin(), cycle.end(), node);
    return !is_stage(at + 1 == cycle.end() ? cycle.front() : *(at + 1));
  }

  std::string describe(std::size_t node) const {
    if (!is_stage(node)) return describe_transfer(graph_, platform_, transfer(node));
    return "stage " + std::to_string(stages_[node].stage) + " of " +
           platform_.device(stages_[node].device).name;
  }

  std::string waits_for(std::size_t later, std::size_t earlier) const {
    const bool same_kind = is_stage(later) == is_stage(earlier);
    const bool next_stage =
        is_stage(later) && is_stage(earlier) && later == earlier + 1 && stages_[later].stage > 0;
    if (next_stage || (same_kind && !is_stage(later))) return "comes after " + describe(earlier);
    return "needs " + describe(earlier);
  }

  const Graph& graph_;
  const Platform& platform_;
  const Schedule& schedule_;
  const Assignment& assignment_;
  std::vector<Node> stages_;  // by number of the stage; numbers of transfers follow
  std::map<PlannedTransfer, std::size_t> node_of_;
  std::vector<std::vector<std::size_t>> before_;  // by transfer: nodes
};

}  // namespace

std::vector<Finding> find_transfer_deadlocks(const Graph& graph, const Platform& platform,
                                             const Schedule& schedule,
                                             const Assignment& assignment) {
  if (schedule.transfers.empty()) return {};
  return TransferDeadlockSearch(graph, platform, schedule, assignment).run();
}

std::string describe_transfer(const Graph& graph, const Platform& platform,
                              const PlannedTransfer& transfer) {
  return "the transfer of " + graph.op(transfer.producer).name + " to " +
         platform.device(transfer.to).name;
}

}  // namespace hios
