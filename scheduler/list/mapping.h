#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/timeline.h"

/// A device for each operator, and one order in which all are started: the search space of DiviML
/// (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural Networks onto
/// Heterogeneous Platforms", section V-A).
namespace hios::scheduler {

/// Device by OpId.
using Mapping = std::vector<DeviceId>;

/// Returns a topological order by waves: first the operators without inputs, then those whose last
/// input is among them, and so on (Kahn's algorithm with a queue). Equals are in the graph's order.
std::vector<OpId> breadth_first_order(const Graph& graph);

/// Maps each operator to the device that is fastest for it (the lowest among equals), and operators
/// that share a label to the device with the least sum of their times, in that order while memory
/// lasts. If labels and memory leave an operator no device, returns the result of pack_operators()
/// and throws as it does.
Mapping fastest_mapping(const Graph& graph, const CostModel& costs, std::span<const OpId> order,
                        std::string_view algorithm, const Deadline& deadline);

/// Latencies of mappings: operators start in one order, each as soon as its device has ended the
/// previous ones and its inputs have arrived (as in a ListTimeline). Returns what simulate()
/// returns for schedule(), without building a schedule, as long as there is no contention and no
/// range.
class MappingTimes {
 public:
  /// `costs` outlives it. REQUIRES: the order is topological.
  MappingTimes(const Graph& graph, const CostModel& costs, std::vector<OpId> order);

  /// Returns the latency of a mapping in O(V + E). REQUIRES: each operator's device can run it.
  double latency_ms(const Mapping& mapping);

  const std::vector<OpId>& order() const { return order_; }
  /// Returns a schedule with one operator per stage.
  Schedule schedule(const Mapping& mapping) const;

 private:
  struct Input {
    EdgeId edge;
    OpId from;
  };

  const CostModel* costs_;
  std::vector<OpId> order_;
  std::vector<Input> inputs_;                // inputs of each operator, in that order
  std::vector<std::size_t> inputs_end_;      // by position in the order
  std::vector<double> finish_ms_, free_ms_;  // by operator; by device
  std::optional<ListTimeline> copying_;      // where receivers copy
};

/// A mapping that a search changes step by step. A gene is an operator, or all operators that share
/// a label, with at least two possible devices.
class Genes {
 public:
  struct Move {
    std::size_t gene;
    DeviceId to;
  };

  /// Both arguments outlive it. REQUIRES: the mapping honours times by device, `allowed`, labels
  /// and memory.
  Genes(const Graph& graph, const CostModel& costs, Mapping start);

  std::size_t size() const { return genes_.size(); }
  const Mapping& mapping() const { return mapping_; }
  DeviceId device(std::size_t gene) const { return mapping_[genes_[gene].leader.index()]; }
  /// Returns the gene's possible devices, other genes aside: two or more.
  std::span<const DeviceId> choices(std::size_t gene) const { return genes_[gene].choices; }
  /// Makes all moves or none; returns false if memory does not hold them. REQUIRES: each gene at
  /// most once.
  bool move(std::span<const Move> moves);

 private:
  struct Gene {
    OpId leader;
    Bytes bytes = 0;
    std::vector<DeviceId> choices;
  };

  void put(const Gene& gene, DeviceId device);

  Placement labels_;  // nothing is placed in it
  Mapping mapping_;
  std::vector<Gene> genes_;
  std::vector<Bytes> room_;  // by device: free memory; empty without limits
};

}  // namespace hios::scheduler
