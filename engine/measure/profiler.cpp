// Operators are measured by the executor itself, running the whole network on this rank alone, one
// operator a stage: kernels, caches, arena and pinning are those of a run. A hot loop over one
// operator would keep its weights in cache and promise times that no run reaches.
//
// Stages are measured in batches (engine/measure/stage_batch.h), so that primitives and weights of
// thousands need not be there at once and a time limit can end the work between two batches.
//
// All repeated measuring goes through measure(): barrier, sweep, maximum over ranks. The maxima say
// which sweeps are the fastest quarter, on every rank the same ones: those in which no rank was
// disturbed. That is the statistic by which a run's latency is judged (best_quarter), so the two
// can be compared. Tests: tests/engine/measure/profiler_test.cpp.
#include "engine/measure/profiler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/backend/operation.h"
#include "engine/host/cores.h"
#include "engine/host/machine.h"
#include "engine/measure/stage_batch.h"
#include "engine/measure/sweep_times.h"
#include "engine/measure/transfer_times.h"
#include "engine/run/executor.h"
#include "hios/base/log.h"
#include "hios/evaluate/cost_model.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

// Stages measured together (every so manieth of them, so that a batch spans the network and comes
// back to an operator's weights as late as a run does): enough for a sweep of tens of milliseconds,
// and so for a fastest quarter that means something; few enough to hold their weights at once.
constexpr std::size_t kStagesInBatch = 64;

constexpr int kFewestStageSamples = 10;

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

Team everybody(std::size_t ranks) {
  Team team;
  for (std::size_t r = 0; r < ranks; ++r) team.emplace_back(r);
  return team;
}

}  // namespace

struct Profiler::State {
  State(const CoarseGraph& coarse_graph, const Model& the_model, Backend& the_backend,
        mpi::Transport& the_transport, TensorSource& the_source, const Protocol& the_protocol,
        std::vector<Team> the_teams)
      : coarse(coarse_graph),
        model(the_model),
        backend(the_backend),
        transport(the_transport),
        source(the_source),
        protocol(the_protocol),
        teams(std::move(the_teams)) {
    if (teams.empty()) teams.push_back(everybody(transport.size()));
    for (std::size_t t = 0; t < teams.size(); ++t) {
      const Team& team = teams[t];
      if (std::find(team.begin(), team.end(), transport.rank()) != team.end()) mine = t;
    }
  }

  bool leader() const { return transport.rank() == Rank(0); }
  std::vector<std::string> missing_signatures(const Configuration& into) const;
  std::vector<Stage> missing_stages(const std::vector<Stage>& asked,
                                    const Configuration& into) const;
  std::vector<std::pair<Rank, Rank>> missing_pairs(std::span<Configuration* const> into) const;
  SweepTimes sweep_network(std::vector<double>& totals);
  std::vector<double> of_my_team(const std::vector<double>& totals) const;
  void write_operators(const std::vector<std::string>& missing,
                       const std::vector<Measurement>& by_op, Configuration& into) const;
  std::size_t team_of(std::size_t rank) const;
  std::vector<Stage> dealt(std::vector<Stage> stages) const;
  bool measure_batch(std::span<const Stage> batch, std::size_t batches_left, double time_left_s,
                     Configuration& into, std::size_t team);
  int affordable_sweeps(double sweep_s, std::size_t batches_left, double time_left_s) const;
  Bytes cold_bytes() const;
  void describe(Configuration& into, const Stopwatch& stopwatch, std::size_t team) const;

  const CoarseGraph& coarse;
  const Model& model;
  Backend& backend;
  mpi::Transport& transport;
  TensorSource& source;
  Protocol protocol;
  std::vector<Team> teams;
  std::size_t mine = 0;  // the team of this rank
};

Profiler::Profiler(const CoarseGraph& coarse, const Model& model, Backend& backend,
                   mpi::Transport& transport, TensorSource& source, const Protocol& protocol,
                   std::vector<Team> teams)
    : state_(std::make_unique<State>(coarse, model, backend, transport, source, protocol,
                                     std::move(teams))) {
  for (const OpId op : coarse.graph.topological()) {
    require_support(backend, operation_of(coarse, model, op));
  }
}

Profiler::~Profiler() = default;

// Operators

std::vector<std::string> Profiler::State::missing_signatures(const Configuration& into) const {
  std::set<std::string> missing;
  for (const Operator& op : coarse.graph.operators()) {
    if (!into.operators.contains(op.signature)) missing.insert(op.signature);
  }
  return mpi::broadcast(transport, std::vector<std::string>(missing.begin(), missing.end()));
}

// Times of every operator, by OpId, in every sweep; `totals` are the sweeps' own, on this rank.
SweepTimes Profiler::State::sweep_network(std::vector<double>& totals) {
  const auto order = coarse.graph.topological();
  Schedule sequential;
  sequential.devices.push_back(one_operator_stages({order.begin(), order.end()}));
  RankPlan plan = plan_rank(coarse, sequential, Rank(0));
  plan.rank = transport.rank();  // every rank runs device 0's plan
  Executor executor(coarse, model, plan, backend, transport, source);
  executor.record_stages(true);

  SweepTimes sweeps(order.size());
  std::optional<log::Progress> progress;
  if (leader()) progress.emplace("measuring operators, sweep");
  const Stopwatch stopwatch;
  std::size_t done = 0;
  const std::size_t expected = static_cast<std::size_t>(protocol.warmup + protocol.iterations);
  measure(transport, protocol, [&] {
    const double ms = executor.run_once();
    totals.push_back(ms);
    sweeps.begin_sweep();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const StageClock& clock = executor.stage_clocks()[i];
      sweeps.add(order[i].index(), clock.end_ms - clock.start_ms);
    }
    ++done;
    const double per_sweep = stopwatch.seconds() / static_cast<double>(done);
    if (progress && done <= expected) {
      progress->update(done, expected, per_sweep * static_cast<double>(expected - done));
    }
    return ms;
  });
  executor.close();
  sweeps.drop_first(static_cast<std::size_t>(protocol.warmup));
  totals.erase(totals.begin(), totals.begin() + protocol.warmup);
  return sweeps;
}

// The maxima over the ranks of this rank's team.
std::vector<double> Profiler::State::of_my_team(const std::vector<double>& totals) const {
  std::vector<double> most(totals.size(), 0);
  const std::vector<std::vector<double>> of_ranks = mpi::gather(transport, totals);
  for (const Rank rank : teams[mine]) {
    const std::vector<double>& theirs = of_ranks[rank.index()];
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], theirs.at(i));
  }
  return most;
}

std::size_t Profiler::State::team_of(std::size_t rank) const {
  std::size_t team = 0;
  while (std::find(teams[team].begin(), teams[team].end(), Rank(rank)) == teams[team].end()) ++team;
  return team;
}

void Profiler::State::write_operators(const std::vector<std::string>& missing,
                                      const std::vector<Measurement>& by_op,
                                      Configuration& into) const {
  for (const std::string& signature : missing) {
    Measurement mean{0, 0, 0};
    double occurrences = 0;
    for (std::size_t i = 0; i < by_op.size(); ++i) {
      if (coarse.graph.op(OpId(i)).signature != signature) continue;
      mean.ms += by_op[i].ms;
      mean.min_ms = occurrences == 0 ? by_op[i].min_ms : std::min(mean.min_ms, by_op[i].min_ms);
      mean.samples += by_op[i].samples;
      ++occurrences;
    }
    mean.ms /= occurrences;
    into.operators[signature] = mean;
  }
}

Measured Profiler::measure_operators(std::span<Configuration* const> into) {
  State& state = *state_;
  const Stopwatch stopwatch;
  std::vector<std::vector<std::string>> missing;
  Measured measured;
  for (const Configuration* const known : into) {
    missing.push_back(state.missing_signatures(*known));
    measured.missing += missing.back().size();
  }
  if (measured.missing == 0) return {};
  std::vector<double> totals;
  const SweepTimes sweeps = state.sweep_network(totals);
  totals = state.of_my_team(totals);
  for (std::size_t team = 0; team < into.size(); ++team) {
    const auto by_op = sweeps.merge(state.transport, totals, state.teams[team]);
    if (missing[team].empty()) continue;
    state.write_operators(missing[team], by_op, *into[team]);
    state.describe(*into[team], stopwatch, team);
  }
  measured.done = measured.missing;
  return measured;
}

// Stages

std::vector<Stage> Profiler::State::missing_stages(const std::vector<Stage>& asked,
                                                   const Configuration& into) const {
  std::vector<Stage> missing;
  std::set<StageKey> seen;
  for (const Stage& stage : asked) {
    if (stage.groups.size() == 1) continue;
    const StageKey key = stage_key(coarse.graph, stage);
    if (into.stages.contains(key) || !seen.insert(key).second) continue;
    missing.push_back(stage);
  }
  return mpi::broadcast(transport, missing);
}

// How often this batch can be swept if each batch to come takes as long; 0: not often enough.
int Profiler::State::affordable_sweeps(double sweep_s, std::size_t batches_left,
                                       double time_left_s) const {
  const int fewest = std::min(kFewestStageSamples, protocol.iterations);
  if (time_left_s < sweep_s * fewest) return 0;
  const double fair = time_left_s / (sweep_s * static_cast<double>(batches_left));
  return static_cast<int>(std::clamp<double>(fair, fewest, protocol.iterations));
}

// What a run touches between two uses of an operator's weights, as far as a cache could remember.
// The ranks of a host share the processor's; a device beside it has one of its own.
Bytes Profiler::State::cold_bytes() const {
  Bytes iteration = 0;
  for (const Operator& op : coarse.graph.operators())
    iteration += op.memory_bytes + op.parameter_bytes;
  const std::size_t sharers = backend.accelerator() ? 1 : transport.local_size();
  return std::min<Bytes>(backend.cache_bytes() / sharers, iteration);
}

// Deals stages in topological order out to batches like cards: neighbours, which share operators,
// come into different ones.
std::vector<Stage> Profiler::State::dealt(std::vector<Stage> stages) const {
  std::vector<std::size_t> position(coarse.graph.size());
  for (std::size_t i = 0; i < position.size(); ++i) {
    position[coarse.graph.topological()[i].index()] = i;
  }
  const auto first = [&](const Stage& stage) {
    return position[stage.groups.front().front().index()];
  };
  std::stable_sort(stages.begin(), stages.end(),
                   [&](const Stage& a, const Stage& b) { return first(a) < first(b); });
  const std::size_t batches = (stages.size() + kStagesInBatch - 1) / kStagesInBatch;
  std::vector<Stage> dealt;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (std::size_t i = batch; i < stages.size(); i += batches) dealt.push_back(stages[i]);
  }
  return dealt;
}

// False: the time would not suffice, and nothing was measured.
bool Profiler::State::measure_batch(std::span<const Stage> batch, std::size_t batches_left,
                                    double time_left_s, Configuration& into, std::size_t team) {
  const Stopwatch stopwatch;
  std::optional<StageBatch> stages;  // not on ranks that look on
  if (team == mine) stages.emplace(coarse, model, backend, source, batch, cold_bytes());
  std::vector<double> ms(batch.size());
  const double made_s = stopwatch.seconds();
  transport.barrier();
  const Stopwatch sweep_stopwatch;
  if (stages) stages->sweep(ms);  // warm-up, and how long a sweep takes
  const double sweep_s = sweep_stopwatch.seconds();
  const double left_s = time_left_s - made_s * static_cast<double>(batches_left) - sweep_s;
  const int sweeps_to_do = mpi::broadcast(
      transport, affordable_sweeps(sweep_s, batches_left, left_s), teams[team].front());
  if (sweeps_to_do == 0) return false;

  SweepTimes sweeps(batch.size());
  const std::vector<double> totals = measure(transport, {0, sweeps_to_do, 0}, [&] {
    if (!stages) return 0.0;
    const double total = stages->sweep(ms);
    sweeps.begin_sweep();
    for (std::size_t i = 0; i < ms.size(); ++i) sweeps.add(i, ms[i]);
    return total;
  });
  const std::vector<Measurement> merged = sweeps.merge(transport, totals, teams[team]);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    into.stages[stage_key(coarse.graph, batch[i])] = merged[i];
  }
  return true;
}

Measured Profiler::measure_stages(const std::vector<Stage>& stages, Configuration& into,
                                  double time_limit_s, std::size_t team) {
  State& state = *state_;
  const Stopwatch stopwatch;
  const std::vector<Stage> missing = state.dealt(state.missing_stages(stages, into));
  if (missing.empty()) return {};
  std::optional<log::Progress> progress;
  if (state.leader()) progress.emplace("measuring stages");
  Measured measured{missing.size(), 0};
  while (measured.done < missing.size()) {
    const std::size_t left = missing.size() - measured.done;
    if (progress) {
      const double elapsed = stopwatch.seconds();
      const double seconds_left = measured.done == 0 ? time_limit_s
                                                     : elapsed * static_cast<double>(left) /
                                                           static_cast<double>(measured.done);
      progress->update(measured.done, missing.size(),
                       std::min(seconds_left, time_limit_s - elapsed));
    }
    const std::size_t batches_left = (left + kStagesInBatch - 1) / kStagesInBatch;
    const std::size_t size = (left + batches_left - 1) / batches_left;
    const std::span<const Stage> batch(missing.data() + measured.done, size);
    const double time_left_s = time_limit_s - stopwatch.seconds();
    if (!state.measure_batch(batch, batches_left, time_left_s, into, team)) break;
    measured.done += size;
  }
  state.describe(into, stopwatch, team);
  return measured;
}

// Transfers

std::vector<std::pair<Rank, Rank>> Profiler::State::missing_pairs(
    std::span<Configuration* const> into) const {
  const auto known = [&](std::size_t from, std::size_t to) {
    const auto& curves = into[team_of(from)]->transfers;
    return std::any_of(curves.begin(), curves.end(),
                       [&](const auto& curve) { return curve.from == from && curve.to == to; });
  };
  std::vector<std::pair<Rank, Rank>> missing;
  for (std::size_t from = 0; from < transport.size(); ++from) {
    for (std::size_t to = from + 1; to < transport.size(); ++to) {
      if (!known(from, to) || !known(to, from)) missing.emplace_back(from, to);
    }
  }
  return mpi::broadcast(transport, missing);
}

Measured Profiler::measure_transfers(std::span<Configuration* const> into, Bytes largest) {
  State& state = *state_;
  const Stopwatch stopwatch;
  const auto missing = state.missing_pairs(into);
  if (missing.empty()) return {};
  std::optional<log::Progress> progress;
  if (state.leader()) progress.emplace("measuring transfers, pair of ranks");
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const auto [from, to] = missing[i];
    const double left = static_cast<double>(missing.size() - i);
    if (progress) {
      progress->update(i, missing.size(),
                       i == 0 ? -1 : stopwatch.seconds() * left / static_cast<double>(i));
    }
    TransferCurve curve =
        transfer_times(state.transport, state.backend, state.protocol, from, to, largest);
    for (int direction = 0; direction < 2; ++direction, std::swap(curve.from, curve.to)) {
      auto& curves = into[state.team_of(curve.from)]->transfers;
      std::erase_if(curves, [&](const TransferCurve& old) {
        return old.from == curve.from && old.to == curve.to;
      });
      curves.push_back(curve);
    }
  }
  for (std::size_t team = 0; team < into.size(); ++team) {
    auto& curves = into[team]->transfers;
    std::sort(curves.begin(), curves.end(), [](const TransferCurve& a, const TransferCurve& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    state.describe(*into[team], stopwatch, team);
  }
  return {2 * missing.size(), 2 * missing.size()};
}

// Provenance, alike on all ranks: what the first rank of the team sees.
void Profiler::State::describe(Configuration& into, const Stopwatch& stopwatch,
                               std::size_t team) const {
  const Rank speaker = teams[team].front();
  const Circumstances here = {std::string(backend.name()), std::string(backend.kind()),
                              backend.threads(), cold_bytes(),
                              Json{{"processor", processor_name()},
                                   {"allowed_cores", allowed_cores().size()},
                                   {"backend", backend.describe()},
                                   {"transport", transport.path()}}};
  const Circumstances facts = mpi::broadcast(transport, here, speaker);
  into.backend = facts.backend;
  into.kind = facts.kind;
  into.threads = facts.threads;
  into.ranks = transport.size();
  into.machine = facts.machine;
  into.machine["hosts"] = mpi::gather(transport, transport.host());
  into.protocol = protocol.json();
  into.protocol["statistic"] = SweepTimes::statistic();
  into.protocol["transfers"] = "half a round trip to a waiting rank, median of the fastest quarter";
  into.protocol["cold_bytes"] = facts.cold_bytes;
  if (teams.size() > 1) into.protocol["stages"] = "the ranks of one configuration at a time";
  double seconds = into.seconds + stopwatch.seconds();
  transport.all_reduce_max({&seconds, 1});
  into.seconds = seconds;
}

}  // namespace hios
