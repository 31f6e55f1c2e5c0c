#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/graph/parameters.h"
#include "hios/schedule/schedule.h"
#include "scheduler/cold/sortinghat/paths.h"
#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"

namespace hios::scheduler::sortinghat {

/// The order of the loads of a lane.
enum class LaneOrder {
  kRoundRobin,  ///< the MILP's: its devices' subgraphs in turn (ParentDT, Fig. 7(d))
  kUse,         ///< by the start of the first subgraph that needs them
};

/// Submodels whose schedules are fixed, and the schedule that they make together. Refers to its
/// arguments, which outlive it.
class PlannedSubmodels {
 public:
  /// REQUIRES: a topology; an even number of subgraphs.
  PlannedSubmodels(const Graph& graph, const CostModel& costs, const Paths& paths,
                   std::size_t subgraphs_per_device);

  /// Returns the problem of the next submodel. Inputs that are neither fixed nor among its
  /// operators do not count. REQUIRES: operators in topological order.
  SubmodelProblem next(const std::vector<OpId>& operators) const;
  /// Fixes the submodel. REQUIRES: the problem is that of next().
  void fix(const SubmodelProblem& problem, const SubmodelAssignment& assignment,
           const SubmodelTimes& times);

  /// Returns the latency that the MILP predicts.
  double latency_ms() const { return latency_ms_; }
  /// Returns the schedule of all that is fixed.
  Schedule schedule(LaneOrder order) const;

 private:
  struct FixedAt {
    std::size_t device = 0;
    double finish_ms = 0;
  };
  struct PlannedLoad {
    std::size_t set = 0, bus = 0;
    Load load;
    double use_ms = 0;  ///< the start of the first subgraph that needs it
  };

  void add_operators(SubmodelProblem& problem, const std::vector<OpId>& operators) const;
  void add_edges(SubmodelProblem& problem, const std::vector<OpId>& operators) const;
  void add_state(SubmodelProblem& problem) const;
  void fix_operators(const SubmodelProblem& problem, const SubmodelAssignment& assignment,
                     const SubmodelTimes& times);
  void fix_loads(const SubmodelProblem& problem, const SubmodelAssignment& assignment,
                 const SubmodelTimes& times);
  void fix_memory(const SubmodelProblem& problem, const SubmodelAssignment& assignment);
  void use_bytes(std::size_t device, Bytes bytes);
  OpId first_reader(std::size_t set) const { return sets_.sets()[set].operators.front(); }

  const Graph& graph_;
  const CostModel& costs_;
  const Paths& paths_;
  std::size_t subgraphs_per_device_;
  ParameterSets sets_;
  std::vector<std::optional<FixedAt>> operators_;  // by operator
  std::vector<std::optional<FixedAt>> loaded_;     // by set
  std::vector<std::vector<OpId>> order_;           // by device
  std::vector<ReadInPlace> in_place_;
  std::vector<PlannedLoad> loads_;  // from stores, by bus in the MILP's order
  std::map<std::pair<std::size_t, std::size_t>, Lane> copies_;  // by pair of devices
  std::map<std::pair<std::size_t, std::size_t>, bool> copied_;  // by set and device
  std::vector<double> bus_free_ms_, device_free_ms_;
  std::vector<Bytes> used_bytes_;  // by device
  std::map<std::string, std::size_t> labels_;
  double latency_ms_ = 0;
};

}  // namespace hios::scheduler::sortinghat
