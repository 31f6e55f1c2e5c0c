#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

/// The max-throughput partitioning problem: assign operators to blocks, one a device, that form no
/// cycle, so that the most expensive block is as cheap as possible (Archer, Fahrbach, Liu and
/// Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference", section 2).
namespace hios::scheduler::pipeline {

/// An index of PipelineProblem::vertices.
using Vertex = std::uint32_t;

/// Operators that must be in one block: those of one `colocate` label and all between them, or a
/// single one.
struct PipelineVertex {
  std::vector<OpId> ops;  ///< in topological order
  Bytes parameters = 0;   ///< sum over the operators
  Bytes held = 0;         ///< outputs and parameters, as a device's memory counts them
  std::vector<Vertex> predecessors, successors;  ///< its producers and consumers; increasing
};

/// A tensor with consumers in other vertices.
struct PipelineTensor {
  Vertex producer = 0;
  double ms = 0;                  ///< tensor_ms()
  Bytes bytes = 0;                ///< tensor_bytes()
  std::vector<Vertex> consumers;  ///< increasing; never empty
};

/// A class of devices on which every block costs the same.
struct PipelineClass {
  std::vector<DeviceId> devices;  ///< increasing
  std::vector<double> work_ms;    ///< by vertex, in serial order; infinite where it cannot run
  IoCharge charge;
  FastMemory fast_memory;
  Bytes memory_bytes = 0;  ///< 0: no limit
};

/// The data that the schedulers of this room share. Keeps graph and costs, which must outlive it;
/// any thread may read it.
class PipelineProblem {
 public:
  /// `shares`, if not empty: by operator, the share of its time that counts.
  PipelineProblem(const Graph& graph, const CostModel& costs, std::span<const double> shares = {});

  const Graph& graph() const { return *graph_; }
  const CostModel& costs() const { return *costs_; }
  std::size_t size() const { return vertices_.size(); }
  std::size_t devices() const { return costs_->platform().size(); }
  const std::vector<PipelineVertex>& vertices() const { return vertices_; }
  /// Returns tensors by producer.
  const std::vector<PipelineTensor>& tensors() const { return tensors_; }
  const std::vector<PipelineClass>& classes() const { return classes_; }
  /// Returns vertices by their first operators in the graph's topological order, as far as edges
  /// permit.
  const std::vector<Vertex>& given_order() const { return given_order_; }

 private:
  void join_vertices();
  void find_tensors();
  void find_classes(std::span<const double> shares);

  const Graph* graph_;
  const CostModel* costs_;
  std::vector<Vertex> vertex_of_;  // by operator
  std::vector<PipelineVertex> vertices_;
  std::vector<PipelineTensor> tensors_;
  std::vector<PipelineClass> classes_;
  std::vector<Vertex> given_order_;
};

/// Returns a topological order of the vertices by Kahn's algorithm: the greatest priority first,
/// then the smallest index. `priorities`: by vertex. O((V + E) log V).
std::vector<Vertex> order_by_priority(const PipelineProblem& problem,
                                      std::span<const double> priorities);

/// Returns a topological order in which the vertex that became ready last is taken first, so that
/// consumers are close after their producers.
std::vector<Vertex> depth_first_order(const PipelineProblem& problem);

}  // namespace hios::scheduler::pipeline
