#pragma once

#include <optional>
#include <vector>

#include "scheduler/algorithms/hios/stage_graph.h"
#include "scheduler/structures/max_tree.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler {

/// Finds the merge of neighbouring stages that minimises the latency, if any reduces it. Decides
/// exactly as simulating each merge without contention and without copies by receivers would, to
/// the last bit.
class MergeTrials {
 public:
  using NodeId = StageGraph::NodeId;

  /// The stages must outlive it and be changed by it only.
  explicit MergeTrials(StageGraph& stages);

  /// Adds a candidate: the members as a stage of that cost.
  /// REQUIRES: the last call of mergeable() was for these members and returned true. All candidates
  /// since the last merge_best() begin with the same member, and each contains the one before.
  void try_merging(const std::vector<NodeId>& members, double cost_ms);
  /// Makes the members, as a stage of that cost, the candidate if the schedule is surely not longer
  /// with it than at the last renew_latency(). REQUIRES: the same; no other candidates until
  /// merge_best().
  void try_in_slack(const std::vector<NodeId>& members, double cost_ms);
  /// Computes the latency after merges in slack. O(stages whose ends changed).
  void renew_latency();
  /// Merges the candidate of least latency, the first among equals, if it is below the present
  /// latency; removes all candidates.
  void merge_best();

 private:
  struct Times {
    double end_ms = 0;
    double tail_ms = 0;   ///< longest path from its end to the end of the schedule
    double ready_ms = 0;  ///< arrival of inputs from positions before the cut
  };
  struct Candidate {
    std::vector<NodeId> members;
    double cost_ms = 0;
    double end_ms = 0;
    double through_ms = 0;   ///< the longest path through the merged stage
    double avoiding_ms = 0;  ///< the longest path around it
    double latency_ms = 0;   ///< the greater of both
    std::optional<double> exact_ms;
  };
  struct End {
    NodeId node;
    double ms;
  };

  template <class Visit>
  void for_each_dependent(NodeId node, Visit visit) const;  ///< by edges and the device's order
  template <class Visit>
  void for_each_dependency(NodeId node, Visit visit) const;
  /// Returns true if a length is below another one, however both were rounded.
  bool surely_less(double a_ms, double b_ms) const { return a_ms < b_ms * (1 - margin_); }
  double start_of(NodeId node, bool in_order) const;
  double tail_of(NodeId node) const;
  double length_from(NodeId node) const;  ///< its cost and tail
  void renew_ends_up_to(std::size_t position);
  void renew_tails_from(std::size_t position);
  void enter_length(std::size_t position);
  void raise_ready(NodeId node, double ms);
  void renew_ready(NodeId node);
  void move_cut_to(std::size_t position);

  double end_of_merged(const std::vector<NodeId>& members, double cost_ms) const;
  double tail_of_merged(const std::vector<NodeId>& members) const;
  bool on_longest_path(const std::vector<NodeId>& members) const;
  double longest_avoiding() const;
  double longest_out_of(NodeId node) const;
  bool best_avoids(const Candidate& candidate) const;
  bool exactly_less(Candidate& candidate);
  double exact_latency(Candidate& candidate);
  double last_end() const;
  void set_end(NodeId node, double end_ms);

  StageGraph& stages_;
  double margin_;             // a relative rounding error, as the essay in merge_trials.cpp defines
  std::vector<Times> times_;  // by node
  PositionSet stale_ends_, stale_tails_;  // positions whose end, or tail, may have changed
  std::size_t cut_ = 0;                   // the first position after the cut; ends before are valid
  MaxTree lengths_;  // by position: the longest path to it from before the cut or from none
  MaxTree ended_;    // by position before the cut: the end of a stage without dependents
  double latency_ms_ = 0;
  std::optional<double> exact_latency_ms_;
  std::optional<Candidate> best_;
  PositionSet changed_;   // positions to be visited
  std::vector<End> old_;  // ends that exact_latency() replaced
};

}  // namespace hios::scheduler
