#include "scheduler/structures/graph_partition.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

// An operator v is comparable with all others if and only if, in any topological order, all
// operators before it are its ancestors and all after it are its descendants. The latter holds if v
// alone is ready at its position: every later operator has an ancestor that is ready then, and that
// can only be v. The former is the same statement for the reversed order.

namespace hios::scheduler {
namespace {

/// Returns, by position in `order`, true if the operator is the only ready one at its position.
/// `inputs` and `outputs` return the neighbours before and after an operator in that order.
template <class Inputs, class Outputs>
std::vector<bool> alone_when_ready(const std::vector<OpId>& order, Inputs inputs, Outputs outputs) {
  std::vector<std::size_t> waits(order.size(), 0);
  std::size_t ready = 0;
  for (OpId op : order) {
    waits[op.index()] = inputs(op).size();
    if (waits[op.index()] == 0) ++ready;
  }
  std::vector<bool> alone;
  for (OpId op : order) {
    alone.push_back(ready == 1);
    --ready;
    for (OpId next : outputs(op)) {
      if (--waits[next.index()] == 0) ++ready;
    }
  }
  return alone;
}

std::vector<OpId> consumers(const Graph& graph, OpId op) {
  std::vector<OpId> result;
  for (EdgeId e : graph.out_edges(op)) result.push_back(graph.edge(e).to);
  return result;
}

std::vector<OpId> producers(const Graph& graph, OpId op) {
  std::vector<OpId> result;
  for (EdgeId e : graph.in_edges(op)) result.push_back(graph.edge(e).from);
  return result;
}

/// Returns, by position in the topological order, true if the operator is comparable with all
/// others.
std::vector<bool> comparable_with_all(const Graph& graph) {
  std::vector<OpId> order(graph.topological().begin(), graph.topological().end());
  const auto before = [&](OpId op) { return producers(graph, op); };
  const auto after = [&](OpId op) { return consumers(graph, op); };
  std::vector<bool> forward = alone_when_ready(order, before, after);
  std::reverse(order.begin(), order.end());
  const std::vector<bool> backward = alone_when_ready(order, after, before);
  for (std::size_t i = 0; i < forward.size(); ++i) {
    forward[i] = forward[i] && backward[forward.size() - 1 - i];
  }
  return forward;
}

/// Splits a segment into runs of operators of one block: a topological order that stays in a block
/// as long as possible, cut where it leaves one.
class BlockRuns {
 public:
  BlockRuns(const Graph& graph, const std::vector<OpId>& segment)
      : graph_(graph), waits_(graph.size(), 0), inside_(graph.size(), false) {
    for (OpId op : segment) inside_[op.index()] = true;
    for (OpId op : segment) {
      for (OpId input : producers(graph, op)) waits_[op.index()] += inside_[input.index()] ? 1 : 0;
      if (waits_[op.index()] == 0) ready_.insert({graph.op(op).block, op});
    }
  }

  std::vector<std::vector<OpId>> run() {
    std::vector<std::vector<OpId>> runs;
    while (!ready_.empty()) {
      std::string_view block = next_block();
      auto& run = runs.emplace_back();
      for (auto at = first_ready_of(block); at != ready_.end() && at->first == block;
           at = first_ready_of(block)) {
        const OpId op = at->second;
        ready_.erase(at);
        run.push_back(op);
        release(op);
      }
    }
    return runs;
  }

 private:
  using Ready = std::set<std::pair<std::string_view, OpId>>;

  Ready::iterator first_ready_of(std::string_view block) {
    return ready_.lower_bound({block, OpId(0)});
  }

  /// Returns the block of the ready operator with the least id.
  std::string_view next_block() const {
    return std::min_element(ready_.begin(), ready_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  void release(OpId op) {
    for (OpId next : consumers(graph_, op)) {
      if (inside_[next.index()] && --waits_[next.index()] == 0) {
        ready_.insert({graph_.op(next).block, next});
      }
    }
  }

  const Graph& graph_;
  std::vector<std::size_t> waits_;
  std::vector<bool> inside_;
  Ready ready_;
};

void add_segment(const Graph& graph, const std::vector<OpId>& segment, std::size_t limit,
                 GraphPartition& result) {
  if (segment.empty()) return;
  if (segment.size() <= limit) {
    result.subgraphs.push_back(segment);
    return;
  }
  result.lossless = false;
  for (const auto& run : BlockRuns(graph, segment).run()) {
    for (std::size_t begin = 0; begin < run.size(); begin += limit) {
      const std::size_t end = std::min(run.size(), begin + limit);
      result.subgraphs.emplace_back(run.begin() + static_cast<long>(begin),
                                    run.begin() + static_cast<long>(end));
    }
  }
}

}  // namespace

GraphPartition partition_graph(const Graph& graph, std::size_t limit) {
  const std::vector<bool> cut_here = comparable_with_all(graph);
  GraphPartition result;
  std::vector<OpId> segment;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op = graph.topological()[i];
    if (!cut_here[i]) {
      segment.push_back(op);
      continue;
    }
    add_segment(graph, segment, limit, result);
    segment.clear();
    result.subgraphs.push_back({op});
  }
  add_segment(graph, segment, limit, result);
  return result;
}

}  // namespace hios::scheduler
