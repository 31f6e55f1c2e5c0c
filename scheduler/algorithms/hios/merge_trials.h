#pragma once

#include <optional>
#include <vector>

#include "scheduler/algorithms/hios/stage_graph.h"
#include "scheduler/structures/max_tree.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler {

/// Finds out which merge of neighbouring stages makes the latency least, if any makes it less. What
/// it decides is what simulating each one without contention would decide, to the last bit.
class MergeTrials {
 public:
  using NodeId = StageGraph::NodeId;

  /// The stages outlive it and change by it only.
  explicit MergeTrials(StageGraph& stages);

  /// One more candidate: the members as a stage of that cost.
  /// REQUIRES: the last question to the stages was whether they are mergeable, and they are. They
  /// begin with the first member of the candidates before since the last merge_best(), with which
  /// no passed() was called, and hold all members of those.
  void try_merging(const std::vector<NodeId>& members, double cost_ms);
  /// Merges the candidate that makes the latency least, the first among equals, if it is below the
  /// latency without, and forgets all candidates.
  void merge_best();
  /// Promises that no candidate will begin with this operator's stage any more.
  void passed(OpId op);

 private:
  struct Times {
    double end_ms = 0;
    double tail_ms = 0;   ///< from its end to the end of all that waits for it
    double ready_ms = 0;  ///< when the inputs from closed places are there
    bool passed = false;
  };
  struct Candidate {
    std::vector<NodeId> members;
    double cost_ms = 0;
    double end_ms = 0;
    double through_ms = 0;   ///< the longest path through the merged stage
    double avoiding_ms = 0;  ///< the longest other path
    double latency_ms = 0;   ///< the longer of both
    std::optional<double> exact_ms;
  };
  struct End {
    NodeId node;
    double ms;
  };

  double start_of(NodeId node, bool in_order) const;
  double tail_of(NodeId node) const;
  double length_from(NodeId node) const;  ///< its cost and tail
  void time_up_to(std::size_t place);
  void enter_place(std::size_t place);
  void raise_ready(NodeId node, double ms);
  void renew_tails(NodeId from);

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
  std::vector<Times> times_;    // by node
  std::size_t timed_ = 0;       // all places before have their end
  std::size_t first_open_ = 0;  // closed are all places before: passed, and never to change
  double closed_end_ms_ = 0;    // the last end there
  MaxTree lengths_;             // by place: the longest path from closed places or nowhere to it
  double latency_ms_ = 0;
  std::optional<double> exact_latency_ms_;
  std::optional<Candidate> best_;
  PositionSet changed_;   // places to be looked at
  std::vector<End> old_;  // what exact_latency() overwrote
};

}  // namespace hios::scheduler
