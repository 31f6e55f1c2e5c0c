#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"
#include "scheduler/list/placement.h"

/// A device for each operator, with an order in which all are started: the search space of DiviML
/// (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural Networks onto
/// Heterogeneous Platforms", section V-A).
namespace hios::scheduler {

/// By OpId.
using Mapping = std::vector<DeviceId>;

/// A topological order by waves: operators without inputs first, then those whose last input is
/// among these, and so on as they become ready (Kahn's algorithm with a queue); the graph's order
/// among equals.
std::vector<OpId> breadth_first_order(const Graph& graph);

/// Each operator on the device that is fastest for it (the lowest among equals), those that share a
/// label where their times' sum is least, in that order while memory lasts. Where labels and memory
/// leave one no device, what pack_operators() finds instead; throws as that does.
Mapping fastest_mapping(const Graph& graph, const CostModel& costs, std::span<const OpId> order,
                        std::string_view algorithm, const Deadline& deadline);

/// Latencies of mappings: operators start in one order, each as soon as its device has ended those
/// before it and its inputs are there. What simulate() says of schedule(), without making one.
class MappingTimes {
 public:
  /// `costs` outlives it. REQUIRES: the order is topological.
  MappingTimes(const Graph& graph, const CostModel& costs, std::vector<OpId> order);

  /// O(V + E). REQUIRES: each operator's device can run it.
  double latency_ms(const Mapping& mapping);

  const std::vector<OpId>& order() const { return order_; }
  /// One operator a stage.
  Schedule schedule(const Mapping& mapping) const;

 private:
  struct Input {
    EdgeId edge;
    OpId from;
  };

  const CostModel* costs_;
  std::vector<OpId> order_;
  std::vector<Input> inputs_;                // of each operator, in that order
  std::vector<std::size_t> inputs_end_;      // by position in the order
  std::vector<double> finish_ms_, free_ms_;  // by operator; by device
};

/// A mapping that a search changes bit by bit. What chooses a device is a gene: an operator, or all
/// that share a label. Only genes with a choice count.
class Genes {
 public:
  struct Move {
    std::size_t gene;
    DeviceId to;
  };

  /// Both outlive it. REQUIRES: the mapping keeps times by device, `allowed`, labels and memory.
  Genes(const Graph& graph, const CostModel& costs, Mapping start);

  std::size_t size() const { return genes_.size(); }
  const Mapping& mapping() const { return mapping_; }
  DeviceId device(std::size_t gene) const { return mapping_[genes_[gene].leader.index()]; }
  /// Where it may go as far as it alone is concerned: two or more.
  std::span<const DeviceId> choices(std::size_t gene) const { return genes_[gene].choices; }
  /// All at once, or none: false where memory does not hold them. REQUIRES: each gene once.
  bool move(std::span<const Move> moves);

 private:
  struct Gene {
    OpId leader;
    Bytes bytes = 0;
    std::vector<DeviceId> choices;
  };

  void put(const Gene& gene, DeviceId device);

  Placement labels_;  // with nothing placed
  Mapping mapping_;
  std::vector<Gene> genes_;
  std::vector<Bytes> room_;  // by device, beside what is on it; empty without limits
};

}  // namespace hios::scheduler
