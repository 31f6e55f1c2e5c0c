#pragma once

#include <cstdint>
#include <functional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/batches.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/graph.h"
#include "hios/graph/network.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// Inputs that are there together and that operators may divide into batches. The values outlive
/// it.
struct DivisibleProblem {
  const SizedGraphs* graphs = nullptr;
  const Platform* platform = nullptr;
  /// Returns the costs of a graph that divide() made and that outlives them. Throws InputError if
  /// some are missing.
  std::function<CostModel(const Graph&)> make_costs;
};

/// A network whose operators may be cut into shards (hios/graph/cuts/shard.h): the schedule also
/// decides which of them are (scheduler/cuts/). A cut network is a graph like any other, so that
/// every scheduler can plan it. The values outlive it.
struct CuttableProblem {
  const Network* whole = nullptr;    ///< without cuts
  const CostModel* costs = nullptr;  ///< of the whole's graph
  Cuts candidates = {};  ///< the cuts to choose from, one an operator, in the whole's order
  /// Returns the network with these of its operators cut.
  std::function<Network(const Cuts&)> cut = {};
  /// Returns the costs of a cut network's graph, which outlives them. Throws InputError if some are
  /// missing.
  std::function<CostModel(const Graph&)> make_costs = {};
};

/// A problem: a graph, its costs on a platform, the inputs of an inference and the objective. A
/// view: everything that it refers to outlives it.
class Problem {
 public:
  /// A problem in which every operator runs all `inputs` of an inference at a time.
  explicit Problem(const CostModel& costs, Objective objective = Objective::kLatency,
                   std::int64_t inputs = 1)
      : graph_(&costs.graph()),
        platform_(&costs.platform()),
        costs_(&costs),
        objective_(objective),
        inputs_(inputs) {}
  /// A problem in which operators may divide the inputs; the objective is the latency of all.
  explicit Problem(const DivisibleProblem& divisible)
      : graph_(divisible.graphs->whole().get()),
        platform_(divisible.platform),
        divisible_(&divisible),
        inputs_(divisible.graphs->inputs()) {}

  /// A problem in which operators may be cut; the objective is the latency.
  explicit Problem(const CuttableProblem& cuttable)
      : graph_(&cuttable.costs->graph()),
        platform_(&cuttable.costs->platform()),
        costs_(cuttable.costs),
        cuttable_(&cuttable) {}

  /// Returns the graph whose operators run all inputs at a time, and are not cut.
  const Graph& graph() const { return *graph_; }
  const Platform& platform() const { return *platform_; }
  /// Returns the costs of graph(). REQUIRES: divisible() is null; else each division has its own.
  const CostModel& costs() const { return *costs_; }
  /// Returns null where operators may not divide the inputs, as in all problems that a
  /// ScheduleFunction is given.
  const DivisibleProblem* divisible() const { return divisible_; }
  /// Returns null where no operators may be cut, as in all problems that a ScheduleFunction is
  /// given.
  const CuttableProblem* cuttable() const { return cuttable_; }
  std::int64_t inputs() const { return inputs_; }
  Objective objective() const { return objective_; }

 private:
  const Graph* graph_;
  const Platform* platform_;
  const CostModel* costs_ = nullptr;
  const DivisibleProblem* divisible_ = nullptr;
  const CuttableProblem* cuttable_ = nullptr;
  Objective objective_ = Objective::kLatency;
  std::int64_t inputs_ = 1;
};

}  // namespace hios::scheduler
