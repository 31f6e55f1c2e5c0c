#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"
#include "scheduler/milp/program.h"

namespace hios::scheduler::sortinghat {

/// The MILP (1) to (23) of a submodel, for solutions no longer than a known one. Refers to the
/// problem, which outlives it.
class SubmodelProgram {
 public:
  /// Programs with more terms keep a solver busy far beyond its deadline.
  static constexpr std::size_t kMostTerms = 200'000;

  /// Returns a number of terms that no program of the submodel is below, without building one.
  static std::size_t least_terms(const SubmodelProblem& problem);

  /// REQUIRES: the times of an assignment of all nodes.
  SubmodelProgram(const SubmodelProblem& problem, const SubmodelTimes& known);

  const milp::Program& program() const { return program_; }
  bool too_large() const { return program_.terms > kMostTerms; }
  /// Returns values by column of an assignment that is no longer than the known one.
  std::vector<double> values(const SubmodelAssignment& assignment,
                             const SubmodelTimes& times) const;
  /// Returns the assignment of a solution.
  SubmodelAssignment assignment(const std::vector<double>& values) const;

 private:
  using Column = std::uint32_t;
  static constexpr Column kNoColumn = static_cast<Column>(-1);
  using Terms = std::vector<milp::Program::Term>;

  void add_columns();
  void add_assignment();
  void add_contiguity();
  void add_data_movement();
  void add_memory();
  void add_loads();
  void add_inference();
  void add_durations();
  void add_ranks();
  void add_bounds();
  Column add_time(double lower_ms);
  void row(double lower, Terms terms, double upper);
  double after_start(double ms) const { return ms - start_ms_; }
  /// Returns x; kNoColumn where the node cannot be there.
  Column x(std::size_t node, SubgraphId j) const { return x_[node][j]; }
  Column edge_in(std::size_t node, SubgraphId j) const { return edge_in_[node][j]; }
  /// Returns CopyIn of a device and a subgraph of another one.
  Column& copy_in(std::size_t node, std::size_t device, SubgraphId j) {
    return copy_in_[node][device * (problem_.subgraphs() + 1) + j];
  }
  bool may_take_no_time() const;

  const SubmodelProblem& problem_;
  double start_ms_ = 0;    ///< no subgraph starts before
  double horizon_ms_ = 0;  ///< H: all times are at most that, from start_ms_ on
  milp::Program program_;
  std::vector<std::vector<Column>> x_, z_, edge_in_;  // by node, then subgraph
  std::vector<std::vector<Column>> copy_in_;          // by node, then device × subgraph
  std::vector<std::vector<Column>> on_;               // by node, then device
  std::vector<Column> loads_end_, start_, end_, node_end_, rank_, node_rank_;
  Column latency_ = 0;
};

}  // namespace hios::scheduler::sortinghat
