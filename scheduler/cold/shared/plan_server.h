#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/bounds/bounds.h"
#include "scheduler/cold/search/search.h"
#include "scheduler/cold/shared/keeping.h"
#include "scheduler/scheduler.h"

/// Several models share a server (scheduler/cold/shared/server.h). Each device keeps parameters
/// between requests. A request for a model comes with its share, and is then a cold start in which
/// kept parameters are resident. Afterwards the devices keep the same as before.
namespace hios::scheduler::cold {

/// A cold start of a model with what the devices keep.
struct ServedPlan {
  Schedule schedule;  ///< with its resident parameters
  Outcome outcome = Outcome::kFeasible;
  double latency_ms = 0;
  LowerBound bound = {};  ///< of this model with this keeping
};

/// A keeping and the cold starts of all models.
struct ServerPlan {
  std::string name;  ///< of the way that keeps
  Keeping keeping;
  std::vector<ServedPlan> models;  ///< by model
  double expected_ms = 0;          ///< sum over models of share times latency
};

struct ServerResult {
  /// The planned one first, whose expected latency is the least; then those of whole models by
  /// share, of parameters in the order of use, and of nothing, but for those that leave a model no
  /// room.
  std::vector<ServerPlan> plans;
  double bound_ms = 0;     ///< of every keeping; 0: none is known
  bool timed_out = false;  ///< the deadline may have ended a step early
};

struct ServerOptions {
  std::int64_t exchanges = 0;  ///< exchanges of the search for a keeping
  SearchOptions search = {};   ///< of each model's cold starts
};

/// Plans what each device keeps, so that the expected latency of a cold start is small, and each
/// model's cold start. `all`: the schedulers from whose schedules plans start. The result depends
/// on the arguments and the seed alone, unless the deadline ends a search. Throws InputError, which
/// names the model, where one cannot run on the platform; RunError where a schedule breaks a rule,
/// or a plan is shorter than the bound.
ServerResult plan_server(const Server& server, const ServerOptions& options, const Context& context,
                         std::span<const Algorithm> all);

}  // namespace hios::scheduler::cold
