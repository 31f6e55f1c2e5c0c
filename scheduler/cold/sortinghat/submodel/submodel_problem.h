#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/ids.h"

/// The schedule of one submodel as the paper's MILP sees it: the constants of its Table 1, and what
/// it decides (Namkoong, Park, Jung, Kim and Park, "SortingHat: System Topology-aware Scheduling of
/// Deep Neural Network Models on Multi-GPU Systems", section 3.3).
namespace hios::scheduler::sortinghat {

/// The number of a subgraph. 0 stands for parameters that stay in the store; device i (from 0) runs
/// the subgraphs i q + 1 … i q + q in this order, those with odd numbers by reading parameters in
/// place. REQUIRES an even q.
using SubgraphId = std::size_t;

/// A submodel, and the state in which the earlier ones leave the devices. Times are in ms from the
/// beginning of the inference; infinity where something is not possible.
struct SubmodelProblem {
  /// An operator of the submodel.
  struct Operator {
    OpId op;
    std::vector<double> loaded_ms;     ///< P^GPU by device
    std::vector<double> in_place_ms;   ///< P^DHA by device; without parameters, P^GPU
    std::optional<std::size_t> reads;  ///< the node of its parameters
    std::string colocate;              ///< equal non-empty labels share a device
  };
  /// A set of parameters that no earlier submodel has loaded.
  struct Parameters {
    std::size_t set = 0;          ///< of ParameterSets
    std::vector<double> load_ms;  ///< m T_{0,i} by device
  };
  /// A placeholder: an earlier operator, or parameters that an earlier submodel has loaded.
  struct Fixed {
    std::size_t device = 0;
    double finish_ms = 0;
    bool parameters = false;
  };

  std::size_t devices = 0;               ///< k
  std::size_t subgraphs_per_device = 0;  ///< q
  std::vector<Operator> operators;       ///< in topological order
  std::vector<Parameters> parameters;    ///< in order of first use
  std::vector<Fixed> fixed;
  /// By node (operators, then parameters, then placeholders): m_v, which counts for memory, and m_v
  /// T by pair of devices (from × k + to).
  std::vector<Bytes> bytes;
  std::vector<std::vector<double>> copy_ms;
  /// Edges to operators, each once: from a node to an operator. Parameters are inputs as well.
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<std::size_t> bus_of;               ///< ParentPCIe by device
  std::vector<double> bus_free_ms;               ///< PrevDTFin by bus
  std::vector<double> device_free_ms;            ///< PrevSGFin by device
  std::vector<std::optional<Bytes>> room_bytes;  ///< M − PrevM by device; nothing: unlimited
  std::vector<std::pair<std::string, std::size_t>> label_on = {};  ///< colocate labels fixed there

  std::size_t subgraphs() const { return devices * subgraphs_per_device; }
  std::size_t nodes() const { return operators.size() + parameters.size() + fixed.size(); }
  std::size_t parameter_node(std::size_t p) const { return operators.size() + p; }
  std::size_t fixed_node(std::size_t f) const { return operators.size() + parameters.size() + f; }
  bool is_operator(std::size_t node) const { return node < operators.size(); }
  bool is_fixed(std::size_t node) const { return node >= fixed_node(0); }
  bool is_parameters(std::size_t node) const { return !is_operator(node) && !is_fixed(node); }
  std::size_t device_of(SubgraphId j) const { return (j - 1) / subgraphs_per_device; }
  SubgraphId first_of(std::size_t device) const { return device * subgraphs_per_device + 1; }
  static bool in_place(SubgraphId j) { return j % 2 == 1; }
  double operator_ms(std::size_t op, SubgraphId j) const {
    const Operator& node = operators[op];
    return in_place(j) ? node.in_place_ms[device_of(j)] : node.loaded_ms[device_of(j)];
  }
  double copy(std::size_t node, std::size_t from, std::size_t to) const {
    return from == to ? 0 : copy_ms[node][from * devices + to];
  }
  /// Returns true if the edge counts where its operator is in the subgraph: an operator read in
  /// place needs no parameters on its device.
  bool counts(std::size_t from, SubgraphId j) const { return !in_place(j) || !is_loaded(from); }
  /// Returns true for a node of parameters, placeholders included.
  bool is_loaded(std::size_t node) const {
    return is_parameters(node) || (is_fixed(node) && fixed[node - fixed_node(0)].parameters);
  }
  /// Returns a bus's subgraphs in the order in which it loads for them: round-robin over its
  /// devices (Fig. 7(d)).
  std::vector<SubgraphId> transfer_order(std::size_t bus) const;
};

inline constexpr SubgraphId kUnplaced = static_cast<SubgraphId>(-1);

/// The decision x: the subgraph of each operator and each set of parameters.
struct SubmodelAssignment {
  std::vector<SubgraphId> subgraph;  ///< by node, placeholders excluded
  bool operator==(const SubmodelAssignment&) const = default;
};

/// The least times that satisfy (12) to (23) for an assignment, in ms; by subgraph from 1 on.
struct SubmodelTimes {
  std::vector<double> loads_end_ms;  ///< DTFin
  std::vector<double> start_ms;      ///< SGStart
  std::vector<double> end_ms;        ///< SGFin
  std::vector<std::size_t> rank;     ///< longest path of edges between subgraphs to it
  double latency_ms = 0;             ///< TotalLatency
  double lanes_end_ms = 0;           ///< sum over buses of the end of the last load
  /// Returns true if it is better: a shorter latency, or lanes that end earlier.
  bool better_than(const SubmodelTimes& other) const;
};

/// Leaves parameters in the store that no operator needs on a device.
void drop_unread(const SubmodelProblem& problem, SubmodelAssignment& assignment);

/// Returns the times of an assignment; nothing where it breaks a constraint. Nodes that are
/// kUnplaced do not count, nor do their constraints.
std::optional<SubmodelTimes> times_of(const SubmodelProblem& problem,
                                      const SubmodelAssignment& assignment);

}  // namespace hios::scheduler::sortinghat
