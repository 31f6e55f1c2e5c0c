#pragma once

#include <optional>
#include <vector>

#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"

namespace hios::scheduler::sortinghat {

/// The times of an assignment that grows by one operator after the other, in topological order: the
/// same as times_of() up to rounding, without starting from scratch. Refers to the problem, which
/// outlives it. One thread at a time.
class GrowingTimes {
 public:
  /// Where the next operator comes, and with it what it reads.
  struct Step {
    SubgraphId subgraph = 0;
    /// The subgraph that its parameters are loaded for; nothing: they are loaded or placeholders
    /// already, or stay in the store.
    std::optional<SubgraphId> load = {};
  };
  struct Times {
    double end_ms = 0;  ///< of the step's subgraph
    double latency_ms = 0, lanes_end_ms = 0;
  };

  explicit GrowingTimes(const SubmodelProblem& problem);

  const SubmodelAssignment& assignment() const { return assignment_; }
  /// Returns true if the next operator's parameters may be loaded still: they are no placeholders,
  /// and in the store so far.
  bool may_load() const;

  /// Returns a time before which the step's subgraph does not end; infinity where the step breaks a
  /// constraint that is seen at once. Linear in the operator's inputs.
  double least_end_ms(const Step& step);
  /// Returns the times with the step; nothing where it breaks a constraint. Linear in the inputs,
  /// in subgraphs and in the edges between them.
  std::optional<Times> with(const Step& step);
  /// Takes the step. REQUIRES: with() has times for it.
  void take(const Step& step);

 private:
  /// Changes of a step to its subgraph.
  struct Change {
    double duration_ms = 0, ready_ms = 0;  ///< of the subgraph
    bool possible = true;
    std::vector<SubgraphId> after = {};  ///< subgraphs that it did not wait for, each once
  };

  const SubmodelProblem::Operator& next() const { return problem_.operators[next_]; }
  SubgraphId of(std::size_t node) const { return assignment_.subgraph[node]; }
  bool placed(std::size_t node) const { return problem_.is_fixed(node) || of(node) != kUnplaced; }
  std::size_t device_of(std::size_t node) const;
  /// Returns the time to load the next operator's parameters to a device.
  double load_ms(std::size_t device) const {
    return problem_.parameters[*next().reads - problem_.parameter_node(0)].load_ms[device];
  }
  void find_change(const Step& step);
  void add_input(std::size_t from, const Step& step, Bytes& bytes);
  void add_wait(SubgraphId before, SubgraphId j);
  bool fits(const Step& step, Bytes bytes) const;
  void load_in_turn(const Step& step);
  bool walk(const Step& step);
  void take_load(const Step& step);
  void take_input(std::size_t from, SubgraphId j);

  const SubmodelProblem& problem_;
  std::size_t stride_;    ///< subgraphs, and the store
  std::size_t next_ = 0;  ///< operator
  SubmodelAssignment assignment_;
  std::vector<std::vector<std::size_t>> inputs_;  ///< nodes by operator
  std::vector<std::vector<SubgraphId>> order_;    ///< by bus
  std::vector<std::size_t> turn_;                 ///< by subgraph: its place in its bus's order
  std::vector<double> load_ms_, duration_ms_, fixed_ms_;  ///< by subgraph, without waiting
  /// By subgraph and bus: one more than the turn of the last load that it waits for, or 0.
  std::vector<std::size_t> last_load_;
  std::vector<Bytes> used_bytes_;               ///< by device
  std::vector<char> known_;                     ///< by node and subgraph: it is read there
  std::vector<char> known_after_;               ///< by subgraph and the one that waits for it
  std::vector<std::vector<SubgraphId>> after_;  ///< by subgraph
  std::vector<std::size_t> waits_;              ///< by subgraph
  std::vector<double> loads_end_ms_, start_ms_, end_ms_;  ///< by subgraph, as assigned
  // These belong to the step at hand.
  Change change_;
  std::vector<double> new_loads_end_ms_, new_start_ms_, new_end_ms_;
  std::vector<std::size_t> open_;
  std::vector<SubgraphId> ready_;
  Times times_;
};

}  // namespace hios::scheduler::sortinghat
