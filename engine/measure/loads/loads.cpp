// In each round every rank loads while the others are idle, one after the other; then all load at
// the same time, and then all load and compute. So a disturbance that lasts a while meets all of
// these alike, and times alone and together do not mix. A network may be shorter than its loads, or
// longer: the lane loads everything several times, so that it has about as much to do. Tests:
// tests/engine/measure/loads/loads_test.cpp.
#include "engine/measure/loads/loads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/measure/loads/load_run.h"
#include "engine/measure/routes/disk_file.h"
#include "hios/base/log.h"
#include "hios/base/numbers/statistics.h"
#include "hios/profile/loads/load_fit.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

constexpr int kMostLoadRounds = 15;
constexpr double kMostPasses = 64;

/// The medians of one rank's rounds.
struct RankLoads {
  std::vector<double> ms;  ///< alone, by load
  double lead_ms = 0;
  double pass_ms = 0;  ///< together
  double slowdown = 1, load_slowdown = 1;
  static auto fields(auto& self) {
    return std::tie(self.ms, self.lead_ms, self.pass_ms, self.slowdown, self.load_slowdown);
  }
};

double median_over_rounds(const std::vector<double>& values) { return summarize(values).median; }

/// The rounds of one store on this rank.
class LoadRounds {
 public:
  LoadRounds(const ProfilerContext& context, LoadRun& run) : context_(context), run_(run) {}

  /// Chooses the number of passes, the same on all ranks. Collective.
  void settle(bool one_pass) {
    for (int warm_up = 0; warm_up < 2; ++warm_up) {
      run_.run();
      run_.forget();
      run_.load();
      context_.transport.barrier();  // progress, for who watches
    }
    double passes = std::ceil(run_.run() / std::max(run_.load().all_ms, 1e-3));
    context_.transport.all_reduce_max({&passes, 1});
    if (!one_pass) run_.set_passes(static_cast<std::size_t>(std::clamp(passes, 1.0, kMostPasses)));
  }

  /// Collective.
  void round() {
    mpi::Transport& transport = context_.transport;
    transport.barrier();
    Overlapped times{.operators_alone_ms = run_.run()};
    forget();
    LoadRun::Alone mine;
    for (std::size_t r = 0; r < transport.size(); ++r) {
      if (transport.rank() == Rank(r)) mine = run_.load();
      transport.barrier();
    }
    LoadRun::Alone together = mine;
    if (transport.size() > 1) {
      forget();
      together = run_.load();
    }
    forget();
    const LoadRun::Both both = run_.load_and_run();
    times.loads_alone_ms = together.all_ms;
    times.operators_ms = both.operators_ms;
    times.loads_ms = both.loads_ms;
    const Slowdowns slowdowns = slowdowns_of(times);
    ms_.resize(mine.ms.size());
    for (std::size_t i = 0; i < mine.ms.size(); ++i) ms_[i].push_back(mine.ms[i]);
    lead_ms_.push_back(mine.lead_ms);
    alone_ms_.push_back(std::accumulate(mine.ms.begin(), mine.ms.end(), 0.0));
    pass_ms_.push_back(together.pass_ms);
    slowdown_.push_back(slowdowns.operators);
    load_slowdown_.push_back(slowdowns.loads);
  }

  /// Returns the medians over the rounds. The sum of medians is less than the median of sums where
  /// a disk pauses at another load each time, so the loads are made to take the latter.
  RankLoads medians() const {
    RankLoads medians;
    medians.lead_ms = median_over_rounds(lead_ms_);
    medians.pass_ms = median_over_rounds(pass_ms_);
    medians.slowdown = median_over_rounds(slowdown_);
    medians.load_slowdown = median_over_rounds(load_slowdown_);
    for (const std::vector<double>& load : ms_) medians.ms.push_back(median_over_rounds(load));
    const double sum_ms = std::accumulate(medians.ms.begin(), medians.ms.end(), 0.0);
    const double scale = sum_ms > 0 ? median_over_rounds(alone_ms_) / sum_ms : 1;
    for (double& ms : medians.ms) ms *= scale;
    return medians;
  }

 private:
  /// Writes to memory while no rank is timed.
  void forget() {
    context_.transport.barrier();
    run_.forget();
    context_.transport.barrier();
  }

  const ProfilerContext& context_;
  LoadRun& run_;
  std::vector<std::vector<double>> ms_;  // by load and round
  std::vector<double> lead_ms_, alone_ms_, pass_ms_, slowdown_, load_slowdown_;
};

/// Returns the loads of a team: the means over its ranks. `rounds`: of each rank.
MeasuredLoads loads_of(const std::vector<RankLoads>& of_ranks, const Team& team,
                       const std::vector<Bytes>& sizes, int rounds) {
  LaneAlone lane{.sizes = sizes, .ms = std::vector<double>(sizes.size(), 0)};
  double pass_ms = 0, slowdown = 0, load_slowdown = 0;
  const auto ranks = static_cast<double>(team.size());
  for (const Rank rank : team) {
    const RankLoads& one = of_ranks[rank.index()];
    for (std::size_t i = 0; i < sizes.size(); ++i) lane.ms[i] += one.ms.at(i) / ranks;
    lane.lead_ms += one.lead_ms / ranks;
    pass_ms += one.pass_ms / ranks;
    slowdown += one.slowdown / ranks;
    load_slowdown += one.load_slowdown / ranks;
  }
  MeasuredLoads loads = fit_loads(lane);
  if (of_ranks.size() > 1) loads.together_gb_per_s = together_gb_per_s(loads, lane, pass_ms);
  loads.slowdown = slowdown;
  loads.load_slowdown = load_slowdown;
  loads.samples = rounds * static_cast<std::int64_t>(team.size());
  return loads;
}

/// A file as this rank's reads find it.
struct DiskState {
  bool is_memory = false;    ///< its pages stay
  bool fills_cache = false;  ///< a second read would find its pages in memory
};

/// Returns the state on the ranks together. Collective.
DiskState state_of(mpi::Transport& transport, const DirectFile& file) {
  std::array<double, 2> state{0, file.direct() ? 0.0 : 1.0};
  file.drop_cached();
  transport.barrier();
  if (file.cached_bytes() > 0) state[0] = 1;
  transport.all_reduce_max({state.data(), 1});  // no rank reads before all have looked
  if (state[0] == 0 && fills_cache(file)) state[1] = 1;
  transport.all_reduce_max(state);
  return {state[0] > 0, state[1] > 0};
}

/// Measures the loads of one store. Returns false, and writes nothing, where it is stopped.
bool measure_store(const ProfilerContext& context, std::span<Configuration* const> into,
                   StoreKind kind, LoadRun& run, bool one_pass) {
  LoadRounds rounds(context, run);
  rounds.settle(one_pass);
  const int count = std::clamp(context.protocol.iterations, 1, kMostLoadRounds);
  const std::string what = "measuring loads from " + std::string(to_string(kind)) + ", round";
  std::optional<log::Progress> progress;
  if (context.leader()) progress.emplace(what);
  for (int done = 0; done < count; ++done) {
    if (progress)
      progress->update(static_cast<std::size_t>(done), static_cast<std::size_t>(count), -1);
    rounds.round();
    double stopped = context.protocol.stop && context.protocol.stop() ? 1 : 0;
    context.transport.all_reduce_max({&stopped, 1});
    if (stopped > 0) return false;
  }
  const auto of_ranks = mpi::gather(context.transport, rounds.medians());
  for (std::size_t team = 0; team < into.size(); ++team) {
    MeasuredLoads loads = loads_of(of_ranks, context.teams[team], run.sizes(), count);
    loads.network = context.coarse.graph.name();
    into[team]->loads.insert_or_assign(kind, std::move(loads));
  }
  return true;
}

}  // namespace

bool lacks_cold_start(const Graph& graph, const Configuration& into, bool disk) {
  const auto lacks = [&](StoreKind kind) {
    const auto found = into.loads.find(kind);
    return found == into.loads.end() || found->second.network != graph.name();
  };
  if (lacks(StoreKind::kMemory) || (disk && lacks(StoreKind::kDisk))) return true;
  return std::ranges::any_of(graph.operators(), [&](const Operator& op) {
    return op.parameter_bytes > 0 && !into.in_place.contains(op.signature);
  });
}

Measured measure_loads(const ProfilerContext& context, std::span<Configuration* const> into,
                       const LoadOptions& options) {
  const Stopwatch stopwatch;
  const Graph& graph = context.coarse.graph;
  const bool lacks = std::ranges::any_of(into, [&](const Configuration* each) {
    return lacks_cold_start(graph, *each, options.packed != nullptr);
  });
  if (!mpi::broadcast(context.transport, lacks)) return {};
  Measured measured{.missing = options.packed ? 2u : 1u};
  BlockRun network(context, {0, graph.size()});
  const LoadOptions from_memory{.cores = options.cores};
  {
    LoadRun run(context, network, from_memory);
    measured.stopped = !measure_store(context, into, StoreKind::kMemory, run, false);
    measured.done += !measured.stopped;
  }
  Json disk;
  if (options.packed && !measured.stopped) {
    const DirectFile& file = options.packed->file();
    const DiskState state = state_of(context.transport, file);
    if (state.is_memory) {
      log::warning(file.name() +
                   ": its pages stay in memory, so that no disk was measured: put it on a disk");
    } else {
      if (state.fills_cache) {
        log::warning(file.name() +
                     ": is read through the page cache, which is emptied before each load: put it "
                     "on a file system that reads past it");
      }
      LoadRun run(context, network, options);
      measured.stopped = !measure_store(context, into, StoreKind::kDisk, run, state.fills_cache);
      measured.done += !measured.stopped;
      disk = {{"through_page_cache", state.fills_cache}};
    }
  }
  for (std::size_t team = 0; team < into.size(); ++team) {
    context.describe(*into[team], stopwatch, team);
    if (measured.stopped) continue;
    Json how = {{"network", graph.name()}};
    if (!disk.is_null()) how["disk"] = disk;
    into[team]->protocol["loads"] = std::move(how);
  }
  return measured;
}

}  // namespace hios
