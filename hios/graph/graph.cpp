#include "hios/graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "hios/base/digest.h"
#include "hios/base/error.h"

namespace hios {
namespace {

/// Sorts edges by one of their ends: those of operator v become ids[begin[v]] …
/// ids[begin[v + 1] - 1], ascending.
void fill_rows(std::size_t operators, std::span<const Edge> edges, OpId Edge::*end,
               std::vector<EdgeId>& ids, std::vector<std::size_t>& begin) {
  ids.resize(edges.size());
  begin.assign(operators + 1, 0);
  for (const Edge& edge : edges) ++begin[(edge.*end).index() + 1];
  for (std::size_t v = 0; v < operators; ++v) begin[v + 1] += begin[v];
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    ids[next[(edges[e].*end).index()]++] = EdgeId(e);
  }
}

/// Kahn's algorithm with a heap of ready operators: O((V + E) log V). On a cycle the order stays
/// short: the operators on cycles and after them are missing.
std::vector<OpId> kahn(const Graph& graph) {
  std::vector<std::size_t> waiting_for(graph.size());
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    waiting_for[v] = graph.in_edges(OpId(v)).size();
    if (waiting_for[v] == 0) ready.push(OpId(v));
  }
  std::vector<OpId> order;
  order.reserve(graph.size());
  while (!ready.empty()) {
    const OpId op = ready.top();
    ready.pop();
    order.push_back(op);
    for (const EdgeId e : graph.out_edges(op)) {
      const OpId to = graph.edge(e).to;
      if (--waiting_for[to.index()] == 0) ready.push(to);
    }
  }
  return order;
}

/// Returns a cycle among the operators that Kahn's order misses, in the direction of the edges.
/// Each of them has a predecessor among them, so a walk backwards must close.
std::vector<OpId> find_cycle(const Graph& graph, std::span<const OpId> ordered) {
  std::vector<bool> missing(graph.size(), true);
  for (const OpId op : ordered) missing[op.index()] = false;
  const auto first = std::find(missing.begin(), missing.end(), true);
  OpId op(static_cast<std::size_t>(first - missing.begin()));

  std::vector<OpId> walk;
  std::vector<bool> walked(graph.size(), false);
  while (!walked[op.index()]) {
    walked[op.index()] = true;
    walk.push_back(op);
    const auto in = graph.in_edges(op);
    const auto from_missing = std::find_if(
        in.begin(), in.end(), [&](EdgeId e) { return missing[graph.edge(e).from.index()]; });
    op = graph.edge(*from_missing).from;
  }
  walk.erase(walk.begin(), std::find(walk.begin(), walk.end(), op));
  std::reverse(walk.begin(), walk.end());
  return walk;
}

/// Returns "a -> b -> c -> a"; a long cycle loses its middle.
std::string cycle_text(const Graph& graph, const std::vector<OpId>& cycle) {
  constexpr std::size_t kShownAtEachEnd = 16;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > 2 * kShownAtEachEnd && i == kShownAtEachEnd) {
      const std::size_t left_out = cycle.size() - 2 * kShownAtEachEnd;
      text.append("(").append(std::to_string(left_out)).append(" more) -> ");
      i += left_out;
    }
    text += graph.op(cycle[i]).name + " -> ";
  }
  return text + graph.op(cycle.front()).name;
}

std::string digest_of(const Graph& graph) {
  Digest digest;
  digest.add(graph.size()).add(graph.edge_count());
  for (const Operator& op : graph.operators()) digest.add(op.name).add(op.signature);
  for (const Edge& edge : graph.edges()) {
    digest.add(edge.from.index()).add(edge.to.index()).add(edge.size_bytes);
  }
  return digest.hex();
}

}  // namespace

Graph::Graph(std::string name, std::vector<Operator> operators, std::vector<Edge> edges,
             StageCostRule stage_cost, std::int64_t inputs)
    : name_(std::move(name)),
      operators_(std::move(operators)),
      edges_(std::move(edges)),
      stage_cost_(stage_cost),
      inputs_(inputs) {
  const std::string where = "graph '" + printable(name_) + "': ";

  by_name_.reserve(size());
  for (std::size_t v = 0; v < size(); ++v) by_name_.emplace_back(operators_[v].name, OpId(v));
  std::sort(by_name_.begin(), by_name_.end());
  const auto twice = std::adjacent_find(by_name_.begin(), by_name_.end(),
                                        [](auto& a, auto& b) { return a.first == b.first; });
  if (twice != by_name_.end()) {
    throw InputError(where + "two operators are named '" + printable(twice->first) +
                     "'; rename one");
  }

  for (std::size_t e = 0; e < edge_count(); ++e) {
    const auto [from, to] = std::pair(edges_[e].from.index(), edges_[e].to.index());
    if (from >= size() || to >= size()) {
      throw InputError(where + "edge " + std::to_string(e) + " names operator " +
                       std::to_string(std::max(from, to)) + ", but there are only " +
                       std::to_string(size()));
    }
    if (from == to) {
      throw InputError(where + "operator '" + printable(operators_[from].name) +
                       "' has an edge to itself; remove it");
    }
  }

  fill_rows(size(), edges_, &Edge::to, in_, in_begin_);
  fill_rows(size(), edges_, &Edge::from, out_, out_begin_);
  topological_ = kahn(*this);
  if (topological_.size() < size()) {
    throw InputError(where + "a cycle: " + cycle_text(*this, find_cycle(*this, topological_)) +
                     "; remove one of its edges");
  }
  digest_ = digest_of(*this);
}

Graph::Graph(std::string name, std::vector<Operator> operators, std::vector<Edge> edges,
             StageCostRule stage_cost, std::shared_ptr<const Batching> batching)
    : Graph(std::move(name), std::move(operators), std::move(edges), stage_cost, batching->inputs) {
  batching_ = std::move(batching);
  digest_ = batching_->whole->digest();
}

std::span<const EdgeId> Graph::in_edges(OpId id) const {
  return std::span(in_).subspan(in_begin_[id.index()],
                                in_begin_[id.index() + 1] - in_begin_[id.index()]);
}

std::span<const EdgeId> Graph::out_edges(OpId id) const {
  return std::span(out_).subspan(out_begin_[id.index()],
                                 out_begin_[id.index() + 1] - out_begin_[id.index()]);
}

std::optional<OpId> Graph::find(std::string_view operator_name) const {
  const auto at =
      std::lower_bound(by_name_.begin(), by_name_.end(), operator_name,
                       [](const auto& entry, std::string_view key) { return entry.first < key; });
  if (at == by_name_.end() || at->first != operator_name) return std::nullopt;
  return at->second;
}

Reachability::Reachability(const Graph& graph)
    : words_((graph.size() + 63) / 64), bits_(words_ * graph.size(), 0) {
  // In reverse order, every successor's row is complete when it is merged in. O(E · V / 64).
  const auto order = graph.topological();
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    std::uint64_t* row = &bits_[op->index() * words_];
    for (const EdgeId e : graph.out_edges(*op)) {
      const std::size_t to = graph.edge(e).to.index();
      const std::uint64_t* successor = &bits_[to * words_];
      for (std::size_t word = 0; word < words_; ++word) row[word] |= successor[word];
      row[to / 64] |= std::uint64_t{1} << (to % 64);
    }
  }
}

bool Reachability::reaches(OpId from, OpId to) const {
  return (bits_[from.index() * words_ + to.index() / 64] >> (to.index() % 64) & 1) != 0;
}

}  // namespace hios
