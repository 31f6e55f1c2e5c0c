#include "scheduler/algorithms/baselines/ios.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/structures/graph_partition.h"

// IOS (Ding et al., "IOS: Inter-operator scheduler for CNN acceleration", MLSys 2021). A state is a
// downset: a set of operators with all their predecessors. An ending of it is a set of operators
// without consumers in the rest; it may be the last stage, whose groups are its connected
// components. So
//   cost(S) = min over endings E of S: cost(S − E) + stage cost of E,  cost(∅) = 0,
// memoised over the downsets. Pruned as in the paper: at most r operators a group, s groups a
// stage.
//
// Endings are built from closed groups: connected sets C within S of at most r operators without
// consumers in S − C. Two disjoint closed groups have no edge between them, since it would lead out
// of one of them, and no path for the same reason. So endings are exactly the sets of disjoint
// closed groups, each in one way. A stage of one group costs the sum of its operators, as do stages
// of one operator each, so single groups of several operators need not be tried. Nor do stages that
// cost no less than their operators one after the other.
//
// The graph is partitioned first (scheduler/structures/graph_partition.h), and subgraphs of up to
// 32 operators are bit sets. Where a subgraph has too many endings, or the deadline expires,
// unsolved states cost the sum of their operators, which a serial order attains. The result is then
// the best valid schedule found.
//
// Cost: downsets × endings. Tests: tests/scheduler/algorithms/baselines/ios_test.cpp (equal to
// brute force on one device), tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

using Mask = std::uint32_t;  ///< a set of the subgraph's operators
constexpr std::size_t kMaxSubgraph = 32;
constexpr std::size_t kCostsKept = 1'000'000;

class SubgraphSearch {
 public:
  SubgraphSearch(const Graph& graph, const CostModel& costs, DeviceId device,
                 const std::vector<OpId>& operators, const IosOptions& options,
                 const Deadline& deadline)
      : costs_(costs),
        device_(device),
        operators_(operators),
        options_(options),
        deadline_(deadline),
        consumers_(operators.size(), 0),
        neighbours_(operators.size(), 0) {
    std::unordered_map<OpId, std::size_t> local;
    for (std::size_t i = 0; i < operators.size(); ++i) local[operators[i]] = i;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (EdgeId e : graph.out_edges(operators[i])) {
        const auto to = local.find(graph.edge(e).to);
        if (to == local.end()) continue;
        consumers_[i] |= bit(to->second);
        neighbours_[i] |= bit(to->second);
        neighbours_[to->second] |= bit(i);
      }
    }
    list_groups();
  }

  /// Returns the subgraph's stages, first to last.
  std::vector<Stage> run() {
    Mask state = static_cast<Mask>((std::uint64_t{1} << operators_.size()) - 1);
    solve(state);
    std::vector<Stage> stages;
    while (state != 0) {
      const auto solved = solved_.find(state);
      const Mask ending = solved == solved_.end() ? 0 : solved->second.ending;
      if (ending == 0) break;
      stages.push_back(stage_of(ending));
      state &= ~ending;
    }
    for (std::size_t i = operators_.size(); i-- > 0;) {
      if (state & bit(i)) stages.push_back({{{operators_[i]}}});
    }
    std::reverse(stages.begin(), stages.end());
    return stages;
  }

  bool complete() const { return !stopped_; }
  bool timed_out() const { return timed_out_; }

 private:
  struct Solved {
    double ms;
    Mask ending;  ///< the best last stage; empty: a serial order
  };

  static Mask bit(std::size_t i) { return Mask{1} << i; }

  Mask consumers_of(Mask set) const {
    Mask consumers = 0;
    for (Mask rest = set; rest != 0; rest &= rest - 1) {
      consumers |= consumers_[static_cast<std::size_t>(std::countr_zero(rest))];
    }
    return consumers;
  }

  double serial_ms(Mask set) const {
    double sum = 0;
    for (Mask rest = set; rest != 0; rest &= rest - 1) {
      sum +=
          costs_.operator_ms(operators_[static_cast<std::size_t>(std::countr_zero(rest))], device_);
    }
    return sum;
  }

  /// Lists all connected sets of at most r operators: single ones, each grown by its neighbours.
  void list_groups() {
    std::vector<Mask> grown;
    for (std::size_t i = 0; i < operators_.size(); ++i) grown.push_back(bit(i));
    for (std::size_t size = 1; !grown.empty() && size <= options_.max_group; ++size) {
      std::sort(grown.begin(), grown.end());
      grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
      groups_.insert(groups_.end(), grown.begin(), grown.end());
      std::vector<Mask> larger;
      for (Mask group : grown) {
        for (Mask rest = around(group); rest != 0; rest &= rest - 1) {
          larger.push_back(group | (rest & (~rest + 1)));
        }
      }
      grown = std::move(larger);
    }
    for (Mask group : groups_) group_consumers_.push_back(consumers_of(group));
  }

  Mask around(Mask set) const {
    Mask result = 0;
    for (Mask rest = set; rest != 0; rest &= rest - 1) {
      result |= neighbours_[static_cast<std::size_t>(std::countr_zero(rest))];
    }
    return result & ~set;
  }

  Stage stage_of(Mask ending) const {
    Stage stage;
    for (Mask rest = ending; rest != 0;) {
      Mask group = rest & (~rest + 1);
      for (Mask more = group; more != 0; group |= more) more = around(group) & ending;
      Group& operators = stage.groups.emplace_back();
      for (Mask member = group; member != 0; member &= member - 1) {
        operators.push_back(operators_[static_cast<std::size_t>(std::countr_zero(member))]);
      }
      rest &= ~group;
    }
    return stage;
  }

  double stage_ms(Mask ending) {
    if (std::has_single_bit(ending)) return serial_ms(ending);
    const auto known = stage_ms_.find(ending);
    if (known != stage_ms_.end()) return known->second;
    const double ms = costs_.stage_ms(stage_of(ending), device_);
    if (stage_ms_.size() < kCostsKept) stage_ms_.emplace(ending, ms);
    return ms;
  }

  bool must_stop() {
    if (stopped_) return true;
    if (deadline_.expired_at(++endings_, 256)) timed_out_ = stopped_ = true;
    if (endings_ > options_.max_endings) stopped_ = true;
    return stopped_;
  }

  double solve(Mask state) {
    if (state == 0) return 0;
    const auto known = solved_.find(state);
    if (known != solved_.end()) return known->second.ms;
    Solved best{serial_ms(state), 0};
    if (stopped_) return best.ms;
    std::vector<Mask> closed;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const bool inside = (groups_[g] & ~state) == 0;
      if (inside && (group_consumers_[g] & state & ~groups_[g]) == 0) closed.push_back(groups_[g]);
    }
    extend(state, closed, 0, 0, 0, best);
    solved_.emplace(state, best);
    return best.ms;
  }

  /// Tries all endings of `state` that extend `ending` (of `count` groups) by closed groups from
  /// `next` on. Larger endings come first, so an interrupted search has seen stages of many groups.
  void extend(Mask state, const std::vector<Mask>& closed, std::size_t next, Mask ending,
              std::size_t count, Solved& best) {
    if (count < options_.max_groups) {
      for (std::size_t i = next; i < closed.size(); ++i) {
        if ((closed[i] & ending) != 0) continue;
        extend(state, closed, i + 1, ending | closed[i], count + 1, best);
        if (stopped_) return;
      }
    }
    const bool worth_trying = count > 1 || std::has_single_bit(ending);
    if (!worth_trying || must_stop()) return;
    const double last = stage_ms(ending);
    if (count > 1 && last >= serial_ms(ending)) return;
    const double ms = solve(state & ~ending) + last;
    if (ms < best.ms) best = {ms, ending};
  }

  const CostModel& costs_;
  DeviceId device_;
  const std::vector<OpId>& operators_;
  const IosOptions& options_;
  const Deadline& deadline_;
  std::vector<Mask> consumers_, neighbours_;    // by operator
  std::vector<Mask> groups_, group_consumers_;  // connected sets of at most r operators
  std::unordered_map<Mask, Solved> solved_;     // by downset
  std::unordered_map<Mask, double> stage_ms_;   // by ending
  std::int64_t endings_ = 0;
  bool stopped_ = false;
  bool timed_out_ = false;
};

}  // namespace

namespace {

IosOptions limited(const IosOptions& options, const CostModel& costs, DeviceId device) {
  IosOptions limits = options;
  const int streams = std::max(1, costs.platform().device(device).streams);
  limits.max_groups = std::min(limits.max_groups, static_cast<std::size_t>(streams));
  return limits;
}

}  // namespace

IosResult schedule_endings(const Graph& graph, const CostModel& costs, DeviceId device,
                           const IosOptions& options, const Deadline& deadline,
                           const std::function<void(std::string_view)>& progress) {
  const IosOptions limits = limited(options, costs, device);
  IosResult result;
  if (limits.max_groups < 2) {  // all orders cost the same
    result.stages = sequential(graph);
    return result;
  }
  const GraphPartition partition = partition_graph(graph, kMaxSubgraph);
  result.optimal = partition.lossless;
  for (std::size_t i = 0; i < partition.subgraphs.size(); ++i) {
    if (progress) {
      progress("ios: subgraph " + std::to_string(i + 1) + " of " +
               std::to_string(partition.subgraphs.size()));
    }
    SubgraphSearch search(graph, costs, device, partition.subgraphs[i], limits, deadline);
    for (Stage& stage : search.run()) result.stages.push_back(std::move(stage));
    result.optimal = result.optimal && search.complete();
    result.timed_out = result.timed_out || search.timed_out();
  }
  return result;
}

IosResult schedule_endings_of(const Graph& graph, const CostModel& costs, DeviceId device,
                              std::span<const OpId> operators, const IosOptions& options,
                              const Deadline& deadline) {
  const IosOptions limits = limited(options, costs, device);
  IosResult result{{}, operators.size() <= kMaxSubgraph, false};
  for (std::size_t begin = 0; begin < operators.size(); begin += kMaxSubgraph) {
    const auto some = operators.subspan(begin, std::min(kMaxSubgraph, operators.size() - begin));
    const std::vector<OpId> subgraph(some.begin(), some.end());
    SubgraphSearch search(graph, costs, device, subgraph, limits, deadline);
    for (Stage& stage : search.run()) result.stages.push_back(std::move(stage));
    result.optimal = result.optimal && search.complete();
    result.timed_out = result.timed_out || search.timed_out();
  }
  return result;
}

}  // namespace hios::scheduler
