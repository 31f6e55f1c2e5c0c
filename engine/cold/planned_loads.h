#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/cold/load_exchange.h"
#include "hios/base/ids.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "mpi/transport.h"

/// The loads of one rank in a cold start: pure data, the same on every run.
namespace hios {

/// A load of parameters to this rank.
struct PlannedLoad {
  std::size_t lane = 0;   ///< its lane in the schedule
  std::size_t index = 0;  ///< its index there
  /// The operators of this rank that read them, ascending. Where it only passes them on, the
  /// operator that reads them elsewhere.
  std::vector<OpId> readers;
  Bytes size_bytes = 0;               ///< as the graph counts them
  std::optional<Rank> from = {};      ///< the rank that sends them; nothing: they come from a store
  std::optional<StoreId> store = {};  ///< the store that they come from; nothing: a rank sends them
  std::optional<Rank> baton = {};     ///< the rank after whose load it may begin; nothing: this one
};

/// A stage's wait for the loads of a lane, in order, up to this one.
struct LaneWait {
  std::size_t lane = 0;  ///< index into PlannedLoads::lanes
  std::size_t load = 0;  ///< index there
};

/// An operator of another rank whose parameters this rank holds to pass them on, in the layout of
/// that operator: its group's among those of its stage decides about it.
struct HeldOperator {
  OpId op;
  std::size_t group = 0, groups = 1;
};

/// Parameters that are no longer on this rank once a stage has ended.
struct PlannedEviction {
  std::vector<OpId> readers;  ///< as PlannedLoad::readers
  Bytes size_bytes = 0;       ///< as the graph counts them
  std::size_t stage = 0;
  bool resident = false;           ///< they were there from the beginning: no load brings them
  std::vector<std::size_t> sends;  ///< of LoadExchange, which read them: they end first
};

struct PlannedLoads {
  std::vector<std::vector<PlannedLoad>> lanes;  ///< those with a load to this rank
  /// By stage: what no earlier stage has waited for; for stages in any order, all that it needs.
  std::vector<std::vector<LaneWait>> waits;
  std::vector<OpId> in_place;  ///< operators of this rank that read their parameters in place
  std::vector<HeldOperator> held;
  std::vector<PlannedEviction> evictions;  ///< by stage
  LoadExchange exchange;
};

/// Plans the loads of a rank. A lane loads in order, so a wait for a load is one for all before it,
/// also on other ranks. A load that no operator needs, there or elsewhere, is left out. With
/// Weights::load_first, the first stage waits for all, and so does each where stages run in any
/// order (PlanOptions::any_order). A schedule without weights has no lanes. REQUIRES: validate()
/// and unplanned_weights() find nothing.
PlannedLoads plan_loads(const Graph& graph, const Schedule& schedule, Rank rank,
                        bool any_order = false);

/// Returns what no engine does yet in a schedule's weights, as a path below "$.weights" and the
/// reason: "lanes[0][3]: …"; empty: it runs.
std::string unplanned_weights(const ScheduleFile& file);

}  // namespace hios
