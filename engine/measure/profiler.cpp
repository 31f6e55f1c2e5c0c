// The context that all measurements share; each kind of measurement has a file of its own.
//
// All repeated measuring goes through measure(): barrier, sweep, maximum over ranks. The maxima
// choose the fastest quarter of the sweeps, the same on every rank: those in which no rank was
// disturbed. A run's latency is judged by the same statistic (best_quarter), so the two can be
// compared. Tests: tests/engine/measure/profiler_test.cpp.
#include "engine/measure/profiler.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "engine/backend/operation.h"
#include "engine/host/cores.h"
#include "engine/host/machine.h"
#include "engine/measure/loads/loads.h"
#include "engine/measure/operators.h"
#include "engine/measure/profiler_context.h"
#include "engine/measure/stages/stages.h"
#include "engine/measure/transfers/charges.h"
#include "engine/measure/transfers/transfers.h"
#include "engine/measure/warm_operators.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

Team all_ranks(std::size_t ranks) {
  Team team;
  for (std::size_t r = 0; r < ranks; ++r) team.emplace_back(r);
  return team;
}

/// The device and machine that a team measured with.
struct Circumstances {
  std::string backend, kind;
  int threads = 1;
  Bytes cold_bytes = 0;
  Json machine;
  static auto fields(auto& self) {
    return std::tie(self.backend, self.kind, self.threads, self.cold_bytes, self.machine);
  }
};

bool holds(const Team& team, Rank rank) {
  return std::find(team.begin(), team.end(), rank) != team.end();
}

/// Returns the reader of this machine's disturbances, for the life of the process: it has no state
/// but a descriptor.
DisturbanceReader& host_disturbance() {
  static HostDisturbance reader;
  return reader;
}

}  // namespace

std::size_t ProfilerContext::team_of(Rank rank) const {
  std::size_t team = 0;
  while (!holds(teams[team], rank)) ++team;
  return team;
}

bool ProfilerContext::any_asynchronous() const {
  double any = backend.accelerator() ? 1 : 0;
  transport.all_reduce_max({&any, 1});
  return any > 0;
}

// The ranks of a host share the processor's cache; an accelerator has one of its own.
Bytes ProfilerContext::cold_bytes() const {
  Bytes iteration = 0;
  for (const Operator& op : coarse.graph.operators())
    iteration += op.memory_bytes + op.parameter_bytes;
  const std::size_t sharers = backend.accelerator() ? 1 : transport.local_size();
  return std::min<Bytes>(backend.cache_bytes() / sharers, iteration);
}

// The same on all ranks: the facts of the team's first rank.
void ProfilerContext::describe(Configuration& into, const Stopwatch& stopwatch,
                               std::size_t team) const {
  const Circumstances here = {std::string(backend.name()), std::string(backend.kind()),
                              backend.threads(), cold_bytes(),
                              Json{{"processor", processor_name()},
                                   {"allowed_cores", allowed_cores().size()},
                                   {"backend", backend.describe()},
                                   {"transport", transport.path()}}};
  const Circumstances facts = mpi::broadcast(transport, here, teams[team].front());
  into.backend = facts.backend;
  into.kind = facts.kind;
  into.threads = facts.threads;
  into.ranks = transport.size();
  into.machine->update(facts.machine);  // keeps the algorithms that were chosen
  into.machine["hosts"] = mpi::gather(transport, transport.host());
  const Json known = std::exchange(into.protocol, protocol.json());
  for (const char* const key : {"settling", "incomplete", "charges", "loads", "shared"}) {
    if (known.is_object() && known.contains(key)) into.protocol[key] = known[key];
  }
  into.protocol["statistic"] = SweepTimes::statistic();
  into.protocol["transfers"] = "half a round trip to a waiting rank, median of the fastest quarter";
  into.protocol["cold_bytes"] = facts.cold_bytes;
  if (teams.size() > 1) into.protocol["stages"] = "the ranks of one configuration at a time";
  double seconds = into.seconds + stopwatch.seconds();
  transport.all_reduce_max({&seconds, 1});
  into.seconds = seconds;
}

Profiler::Profiler(const RankContext& rank, const Protocol& protocol, std::vector<Team> teams,
                   DisturbanceReader* disturbance) {
  std::vector<Operation> operations;
  for (const OpId op : rank.graph().topological()) {
    operations.push_back(operation_of(rank.coarse, rank.model, op));
  }
  require_support(rank.backend, operations);
  if (teams.empty()) teams.push_back(all_ranks(rank.transport.size()));
  context_ = std::make_unique<ProfilerContext>(ProfilerContext{
      rank, disturbance ? *disturbance : host_disturbance(), protocol, std::move(teams)});
  context_->mine = context_->team_of(rank.transport.rank());
}

Profiler::~Profiler() = default;

Measured Profiler::measure_operators(std::span<Configuration* const> into) {
  return hios::measure_operators(*context_, into);
}

Measured Profiler::measure_stages(const std::vector<Stage>& stages, Configuration& into,
                                  double time_limit_s, std::size_t team) {
  return hios::measure_stages(*context_, stages, into, time_limit_s, team);
}

Measured Profiler::measure_transfers(std::span<Configuration* const> into, Bytes largest,
                                     std::span<const std::size_t> sharers) {
  return hios::measure_transfers(*context_, into, largest, sharers);
}

Measured Profiler::measure_warm(std::span<Configuration* const> into) {
  return hios::measure_warm(*context_, into);
}

Measured Profiler::measure_charges(std::span<Configuration* const> into, ChargeEffort effort) {
  return hios::measure_charges(*context_, into, effort);
}

Measured Profiler::measure_loads(std::span<Configuration* const> into, const LoadOptions& options) {
  return hios::measure_loads(*context_, into, options);
}

Measured Profiler::measure_in_place(std::span<Configuration* const> into) {
  return hios::measure_in_place(*context_, into);
}

}  // namespace hios
