#pragma once

#include <limits>
#include <span>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"
#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// Vertices of an order, [begin, end), as the block of a device of some class.
struct Slice {
  std::size_t begin = 0, end = 0;
  std::size_t device_class = 0;
  double ms = 0;  ///< what the block costs
};

/// An order cut into blocks, at most one a device; such blocks form no cycle.
struct Slicing {
  std::vector<Slice> slices;  ///< in order; none is empty
  double period_ms =
      std::numeric_limits<double>::infinity();  ///< the most expensive; infinite: none found
};

/// Optimal slicings (Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for
/// Pipelined DNN Inference", Algorithm 1): dynamic programming over how many vertices are in blocks
/// and which devices run them. Devices of one class differ in nothing, so a state counts those of
/// each class; beyond kMostStates of them, or kMostSteps for all vertices, devices are taken in the
/// order of their classes, the fastest first, any of them left out.
///
/// Segments that cost more than a limit are not looked at. The limit begins close to the lower
/// bound of work by device and grows until there is a slicing within it, which is then optimal: of
/// n vertices and k devices alike about n²/k segments are seen, fewer where few devices leave
/// little choice where a block ends. Memory: 16 bytes a vertex and state.
class Slicer {
 public:
  static constexpr std::size_t kMostStates = 4096;
  static constexpr double kMostSteps =
      2e8;  ///< states and classes of a segment, over n²/k segments

  explicit Slicer(const PipelineProblem& problem);

  /// REQUIRES: a topological order of all vertices. `below_ms`: what costs as much is of no
  /// interest; nothing is found where there is nothing below. Ends early where the deadline
  /// expires, with nothing.
  Slicing slice(std::span<const Vertex> order,
                double below_ms = std::numeric_limits<double>::infinity(),
                const Deadline& deadline = {}) const;

  /// Blocks of about the same work, filled one after the other in the order of the classes, for
  /// when there is no time; nothing where devices cannot run or hold them so. About linear.
  Slicing coarse(std::span<const Vertex> order) const;

  /// No partition of the vertices has a cheaper most expensive block: work alone, as if it could be
  /// cut anywhere, and the most expensive vertex where it is cheapest (Lemma 3.3, for devices that
  /// differ).
  double simple_bound_ms() const { return simple_bound_ms_; }

 private:
  /// The state with one device of the class less, or kNone.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<Slice> filled(std::span<const Vertex> order, double limit_ms) const;
  void count_states();
  void list_states();

  const PipelineProblem* problem_;
  std::size_t states_ = 0;
  std::vector<std::size_t> previous_;  // state × class
  bool in_order_ = false;              // devices in a fixed order: a state may leave out its last
  double simple_bound_ms_ = 0;
};

/// The schedule in which each block runs on a device of its class, an operator a stage.
Schedule schedule_of(const PipelineProblem& problem, std::span<const Vertex> order,
                     const Slicing& slicing);

}  // namespace hios::scheduler::pipeline
