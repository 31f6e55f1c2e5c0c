#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "hios/graph/graph.h"

/// Many inputs that are there together, and operators that run some of them at a time (Ghannane and
/// Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural Networks onto Heterogeneous
/// Platforms", section III: batches).
///
/// How inputs are divided is a graph of its own: a vertex is an operator on some of the inputs, and
/// an edge leads to whoever reads some of them. What plans, checks, times and runs graphs needs to
/// know no more of it. The paper lets a batch wait for every batch of its predecessor (its
/// inequality 3); here it waits for those that hold its inputs, and what travels between two is
/// what both have in common.
namespace hios {

/// Numbers of inputs that operators may run at a time, increasing; the last is all of them.
using BatchSizes = std::vector<std::int64_t>;

/// The multiples of inputs / parts. Throws InputError unless `parts` divides `inputs`.
BatchSizes batch_sizes(std::int64_t inputs, std::int64_t parts);
/// Those that occur, and all.
BatchSizes batch_sizes(std::int64_t inputs, const std::vector<Batch>& batches);

/// A graph with what it costs for several numbers of inputs at a time: the same operators and
/// edges, other times, bytes and signatures. Immutable; copies share.
class SizedGraphs {
 public:
  /// From the graph's own costs: times by size (Operator::time_by_size), and of bytes and transfer
  /// times k/n of those of all n inputs. REQUIRES: sizes up to graph.inputs().
  SizedGraphs(const Graph& graph, BatchSizes sizes);
  /// `made(k)`: the graph for k inputs. Throws InputError where two have not the same operators and
  /// edges.
  SizedGraphs(BatchSizes sizes, const std::function<Graph(std::int64_t)>& made);

  const BatchSizes& sizes() const { return sizes_; }
  std::int64_t inputs() const { return sizes_.back(); }
  /// For all inputs at a time.
  const std::shared_ptr<const Graph>& whole() const { return by_size_.at(inputs()); }
  bool has(std::int64_t size) const { return by_size_.contains(size); }
  /// REQUIRES: has(size).
  const Graph& of(std::int64_t size) const { return *by_size_.at(size); }

 private:
  BatchSizes sizes_;
  std::map<std::int64_t, std::shared_ptr<const Graph>> by_size_;
};

/// What the edge carries, and costs, for `size` of all inputs: of bytes and times k/n, bytes
/// rounded up.
Edge sized(Edge edge, std::int64_t size, std::int64_t inputs);

/// Every operator in so many batches of equal sizes. REQUIRES: `batches` divides `inputs`.
std::vector<Batch> even_batches(const Graph& whole, std::int64_t inputs, std::int64_t batches);

/// The graph whose vertices are these batches, called "conv_1[0, 4)"; with one batch an operator,
/// the whole graph, whose names stay. Its digest is the whole's. Throws InputError where an
/// operator's batches are not all inputs, each once (the operator is named), or where it has costs,
/// but none for the size of a batch.
Graph divide(const SizedGraphs& graphs, std::vector<Batch> batches);

}  // namespace hios
