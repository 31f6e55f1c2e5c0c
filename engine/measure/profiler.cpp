// What the three kinds of measuring share; they are operators.cpp, stages.cpp and transfers.cpp.
//
// All repeated measuring goes through measure(): barrier, sweep, maximum over ranks. The maxima say
// which sweeps are the fastest quarter, on every rank the same ones: those in which no rank was
// disturbed. That is the statistic by which a run's latency is judged (best_quarter), so the two
// can be compared. Tests: tests/engine/measure/profiler_test.cpp.
#include "engine/measure/profiler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/backend/operation.h"
#include "engine/host/cores.h"
#include "engine/host/machine.h"
#include "engine/measure/profiler_context.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

Team everybody(std::size_t ranks) {
  Team team;
  for (std::size_t r = 0; r < ranks; ++r) team.emplace_back(r);
  return team;
}

/// Where and with what a team measured.
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

/// Of this machine, for as long as the process lives: it has no state but a descriptor.
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

// The ranks of a host share the processor's cache; a device beside it has one of its own.
Bytes ProfilerContext::cold_bytes() const {
  Bytes iteration = 0;
  for (const Operator& op : coarse.graph.operators())
    iteration += op.memory_bytes + op.parameter_bytes;
  const std::size_t sharers = backend.accelerator() ? 1 : transport.local_size();
  return std::min<Bytes>(backend.cache_bytes() / sharers, iteration);
}

// Alike on all ranks: what the first rank of the team sees.
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
  into.machine.update(facts.machine);  // beside the algorithms that were chosen
  into.machine["hosts"] = mpi::gather(transport, transport.host());
  const Json known = std::exchange(into.protocol, protocol.json());
  for (const char* const about_times : {"settling", "incomplete", "charges"}) {
    if (known.is_object() && known.contains(about_times))
      into.protocol[about_times] = known[about_times];
  }
  into.protocol["statistic"] = SweepTimes::statistic();
  into.protocol["transfers"] = "half a round trip to a waiting rank, median of the fastest quarter";
  into.protocol["cold_bytes"] = facts.cold_bytes;
  if (teams.size() > 1) into.protocol["stages"] = "the ranks of one configuration at a time";
  double seconds = into.seconds + stopwatch.seconds();
  transport.all_reduce_max({&seconds, 1});
  into.seconds = seconds;
}

Profiler::Profiler(const CoarseGraph& coarse, const Model& model, Backend& backend,
                   mpi::Transport& transport, TensorSource& source, const Protocol& protocol,
                   std::vector<Team> teams, DisturbanceReader* disturbance) {
  for (const OpId op : coarse.graph.topological()) {
    require_support(backend, operation_of(coarse, model, op));
  }
  if (teams.empty()) teams.push_back(everybody(transport.size()));
  context_ = std::make_unique<ProfilerContext>(ProfilerContext{
      coarse, model, backend, transport, source, disturbance ? *disturbance : host_disturbance(),
      protocol, std::move(teams), 0});
  context_->mine = context_->team_of(transport.rank());
}

Profiler::~Profiler() = default;

}  // namespace hios
