#pragma once

#include <limits>
#include <span>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"
#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// A block: vertices [begin, end) of an order on a device of some class.
struct Slice {
  std::size_t begin = 0, end = 0;
  std::size_t device_class = 0;
  double ms = 0;  ///< the block's cost
};

/// An order cut into blocks, at most one a device; such blocks form no cycle.
struct Slicing {
  std::vector<Slice> slices;                                   ///< in order; none is empty
  double period_ms = std::numeric_limits<double>::infinity();  ///< the most expensive block's;
                                                               ///< infinite: none found
};

/// Finds optimal slicings (Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for
/// Pipelined DNN Inference", Algorithm 1) by dynamic programming over the number of vertices in
/// blocks and the devices that run them. Devices of one class are interchangeable, so a state
/// counts those of each class. Beyond kMaxStates states, or kMaxSteps steps for all vertices,
/// devices are used in the order of their classes, the fastest first, and any may stay unused.
///
/// Segments that cost more than a limit are pruned. The limit begins close to the lower bound by
/// work and grows until there is a slicing within it, which is then optimal. With n vertices and k
/// alike devices about n²/k segments are visited, fewer where few devices restrict the ends of
/// blocks or tensors make them expensive. Memory: 16 bytes for each vertex and state.
class Slicer {
 public:
  static constexpr std::size_t kMaxStates = 4096;
  static constexpr double kMaxSteps = 2e8;  ///< states and classes of a segment, over n²/k segments

  /// `stride`: distance of positions at which blocks end in a first pass, which changes nothing but
  /// the time; 0: by the number of vertices.
  explicit Slicer(const PipelineProblem& problem, std::size_t stride = 0);

  /// Returns the optimal slicing below `below_ms`; empty if there is none or the deadline expires.
  /// REQUIRES: a topological order of all vertices.
  Slicing slice(std::span<const Vertex> order,
                double below_ms = std::numeric_limits<double>::infinity(),
                const Deadline& deadline = {}) const;

  /// Returns blocks of about the same work, filled one after the other in the order of the classes,
  /// for an expired deadline; empty where devices cannot run or hold them. About linear.
  Slicing coarse(std::span<const Vertex> order) const;

  /// Returns a lower bound of the most expensive block: divisible work alone, and the most
  /// expensive vertex on its cheapest class (Lemma 3.3, for unlike devices).
  double simple_bound_ms() const { return simple_bound_ms_; }

 private:
  /// In previous_: no state has one device of the class less.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<Slice> filled(std::span<const Vertex> order, double limit_ms) const;
  void count_states();
  void list_states();

  const PipelineProblem* problem_;
  std::size_t stride_;
  std::size_t states_ = 0;
  std::vector<std::size_t> previous_;  // state × class
  bool in_order_ = false;              // fixed order of devices, whose last may be unused
  double simple_bound_ms_ = 0;
};

/// Returns the schedule in which each block runs on a device of its class, one operator a stage.
Schedule schedule_of(const PipelineProblem& problem, std::span<const Vertex> order,
                     const Slicing& slicing);

}  // namespace hios::scheduler::pipeline
