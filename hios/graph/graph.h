#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/base/ids.h"
#include "hios/graph/batching.h"
#include "hios/graph/byte_range.h"

namespace hios {

/// A vertex: layers that always run together. Only a graph from a file (`hios-graph`) has costs; a
/// graph made from a Model has signatures, whose times a Profile knows.
struct Operator {
  std::string name;
  std::string signature;  ///< its computation and shapes; empty in a research DAG
  std::string block;      ///< the block that it belongs to; empty: none
  double time_ms = 0;     ///< its time alone on any device that `time_by_device` does not name
  bool has_time = false;
  /// Times by device name or kind (a name wins). Where this is not empty and `has_time` is false, a
  /// device that it does not name cannot run the operator.
  std::map<std::string, double, std::less<>> time_by_device;
  /// Times by device and by the number of inputs at a time, where a graph has several inputs. A
  /// device that has a time here runs no other numbers (hios/graph/batches.h).
  std::map<std::string, std::map<std::int64_t, double>, std::less<>> time_by_size = {};
  double utilization = 1;     ///< share of a device that it fills alone, in (0, 1]; for `overlap`
  Bytes memory_bytes = 0;     ///< size of its output
  Bytes parameter_bytes = 0;  ///< size of its weights
  std::string colocate;       ///< equal non-empty labels share a device
  std::vector<std::string> allowed;  ///< device names; empty: all
  /// The name of its parameters; operators with equal non-empty names share the same bytes. Empty:
  /// its own.
  std::string parameters = {};
  /// Its time when it reads its parameters where a store keeps them (hios/graph/parameters.h).
  std::optional<double> in_place_ms = {};
  std::map<std::string, double, std::less<>> in_place_by_device = {};  ///< by name or kind
  std::optional<Bytes> in_place_bytes = {};  ///< bytes that it reads so; empty: parameter_bytes
};

/// Times of one tensor in ms by sender, then receiver, each a device's name or kind. Where several
/// fit a pair, a sender's name comes before its kind, then a receiver's name before its kind.
using PairTimes = std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;

/// A dependency: `to` reads a tensor that `from` produces. Parallel edges are kept (a value used
/// twice); their data travels once.
struct Edge {
  OpId from;
  OpId to;
  Bytes size_bytes = 0;
  std::optional<double> transfer_ms;  ///< its time between any two devices, if the graph has one
  /// Times for some pairs of devices; for other pairs the bytes decide. Null: no pair has a time.
  std::shared_ptr<const PairTimes> transfer_by_pair = {};
  /// The bytes of the producer's output that `to` reads, `size_bytes` of them; empty: all.
  std::optional<ByteRange> range = {};

  /// Returns `range`, or all bytes.
  ByteRange read() const { return range.value_or(ByteRange{0, size_bytes}); }
};

/// The rule for the cost of a stage that was not measured ("stage_cost": docs/formats.md).
struct StageCostRule {
  enum class Kind { kSerial, kOverlap };
  Kind kind = Kind::kSerial;
  double weight = 0.5;  ///< w of overlap: w·Σt + (1−w)·max(Σ t·u, longest group)
};

/// The subject of scheduling: G = (V, E), a directed acyclic multigraph (Kundu and Shu, "HIOS",
/// section III-A). Operator ids keep the given order, which need not be topological; topological()
/// is. Immutable; any thread may read it.
class Graph {
 public:
  Graph() = default;
  /// Throws InputError: an edge to itself or out of range, a name twice, a cycle (named, in order).
  Graph(std::string name, std::vector<Operator> operators, std::vector<Edge> edges,
        StageCostRule stage_cost = {}, std::int64_t inputs = 1);
  /// Makes a graph that divides the inputs of another, for divide() in hios/graph/batches.h.
  Graph(std::string name, std::vector<Operator> operators, std::vector<Edge> edges,
        StageCostRule stage_cost, std::shared_ptr<const Batching> batching);

  const std::string& name() const { return name_; }
  std::size_t size() const { return operators_.size(); }
  std::size_t edge_count() const { return edges_.size(); }
  std::span<const Operator> operators() const { return operators_; }
  std::span<const Edge> edges() const { return edges_; }
  const Operator& op(OpId id) const { return operators_[id.index()]; }
  const Edge& edge(EdgeId id) const { return edges_[id.index()]; }
  const StageCostRule& stage_cost() const { return stage_cost_; }
  /// Returns the number of inputs that are there at once. Costs are those of all inputs unless they
  /// name a number.
  std::int64_t inputs() const { return inputs_; }
  /// Returns the division of another graph's inputs that this graph is; null: it divides none.
  const Batching* batching() const { return batching_.get(); }
  /// Returns the operator and inputs of a vertex. Where no inputs are divided, that is the vertex
  /// itself with all inputs, counted as one.
  Batch batch(OpId id) const { return batching_ ? batching_->of(id) : Batch{id, {0, 1}}; }
  /// Returns the number of inputs, counted as batch() counts them.
  std::int64_t counted_inputs() const { return batching_ ? batching_->inputs : 1; }

  /// Return the edges into and out of an operator, by increasing EdgeId.
  std::span<const EdgeId> in_edges(OpId id) const;
  std::span<const EdgeId> out_edges(OpId id) const;
  /// Returns Kahn's order, the smallest ready OpId first: unique for a graph.
  std::span<const OpId> topological() const { return topological_; }
  std::optional<OpId> find(std::string_view operator_name) const;

  /// Returns a digest of names, signatures and edges, without costs. A graph that divides inputs
  /// has the digest of the whole.
  const std::string& digest() const { return digest_; }

 private:
  std::string name_;
  std::vector<Operator> operators_;
  std::vector<Edge> edges_;
  StageCostRule stage_cost_;
  std::int64_t inputs_ = 1;
  std::shared_ptr<const Batching> batching_;
  std::vector<OpId> topological_;
  std::vector<EdgeId> in_, out_;                       // compressed rows
  std::vector<std::size_t> in_begin_, out_begin_;      // size() + 1 each
  std::vector<std::pair<std::string, OpId>> by_name_;  // sorted
  std::string digest_;
};

/// The reachability relation of a graph, as one bit a pair: n²/8 bytes, for thousands of operators.
class Reachability {
 public:
  explicit Reachability(const Graph& graph);
  /// Returns true if there is a path of one or more edges.
  bool reaches(OpId from, OpId to) const;
  bool independent(OpId a, OpId b) const { return a != b && !reaches(a, b) && !reaches(b, a); }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace hios
