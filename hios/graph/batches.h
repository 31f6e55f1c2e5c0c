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
/// A division of the inputs is a graph of its own: a vertex is an operator on some of the inputs,
/// and an edge leads to each batch that reads some of them. Code that plans, checks, simulates and
/// runs graphs needs to know no more about it. In the paper a batch waits for every batch of its
/// predecessor (inequality 3). Here it waits for those that hold its inputs, and an edge carries
/// the inputs that both have in common.
namespace hios {

/// The numbers of inputs that operators may run at a time, ascending; the last is all of them.
using BatchSizes = std::vector<std::int64_t>;

/// Returns the multiples of inputs / parts. Throws InputError unless `parts` divides `inputs`.
BatchSizes batch_sizes(std::int64_t inputs, std::int64_t parts);
/// Returns the sizes that occur among the batches, and `inputs`.
BatchSizes batch_sizes(std::int64_t inputs, const std::vector<Batch>& batches);

/// A graph for several numbers of inputs at a time: the same operators and edges with other times,
/// bytes and signatures. Immutable; copies share.
class SizedGraphs {
 public:
  /// Derives the graphs from `graph`'s own costs: times by size (Operator::time_by_size), and k/n
  /// of the bytes and transfer times of all n inputs. REQUIRES: sizes up to graph.inputs().
  SizedGraphs(const Graph& graph, BatchSizes sizes);
  /// Takes the graph for k inputs from `made(k)`. Throws InputError where two do not have the same
  /// operators and edges.
  SizedGraphs(BatchSizes sizes, const std::function<Graph(std::int64_t)>& made);

  const BatchSizes& sizes() const { return sizes_; }
  std::int64_t inputs() const { return sizes_.back(); }
  /// Returns the graph for all inputs at a time.
  const std::shared_ptr<const Graph>& whole() const { return by_size_.at(inputs()); }
  bool has(std::int64_t size) const { return by_size_.contains(size); }
  /// REQUIRES: has(size).
  const Graph& of(std::int64_t size) const { return *by_size_.at(size); }

 private:
  BatchSizes sizes_;
  std::map<std::int64_t, std::shared_ptr<const Graph>> by_size_;
};

/// Returns the edge for `size` of all inputs: k/n of its bytes, rounded up, and of its times.
Edge sized(Edge edge, std::int64_t size, std::int64_t inputs);

/// Returns every operator in `batches` batches of equal size. REQUIRES: `batches` divides `inputs`.
std::vector<Batch> even_batches(const Graph& whole, std::int64_t inputs, std::int64_t batches);

/// Returns the graph whose vertices are these batches, named "conv_1[0, 4)"; with one batch an
/// operator, it is the whole graph with its names. Its digest is the whole's. Throws InputError
/// that names the operator whose batches are not all inputs, each once, or that has costs, but none
/// for the size of a batch.
Graph divide(const SizedGraphs& graphs, std::vector<Batch> batches);

}  // namespace hios
