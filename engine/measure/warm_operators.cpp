// Profiler::measure_warm (engine/measure/profiler.h). In each sweep a rank runs the whole network
// and then each part of it, each several times in a row, of which the last counts: what those
// before left in the caches is what a device finds that runs nothing else. Caches take a few rounds
// to settle, so small ones run more often. Whole and parts in turns, because what counts is their
// difference, and a machine's speed drifts.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/measure/block_run.h"
#include "engine/measure/profiler.h"
#include "engine/measure/profiler_context.h"
#include "hios/base/log.h"
#include "hios/evaluate/blocks.h"
#include "hios/profile/profile_gaps.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

/// A block is run for so long before it counts, and so often at most. What takes longer than that
/// reads far more than caches hold.
constexpr double kSettlingMs = 20;
constexpr double kMostRounds = 32;

/// The most that a device holds which runs one of the parts.
Bytes most_held(const Graph& graph, const std::vector<NetworkPart>& parts) {
  Bytes most = 0;
  for (const NetworkPart& part : parts) {
    Bytes held = peak_bytes(graph, part.of(graph));
    for (const OpId op : part.of(graph)) held += graph.op(op).parameter_bytes;
    most = std::max(most, held);
  }
  return most;
}

/// The network and its parts, ready to be swept. Times stand by OpId, those of parts behind those
/// of the whole.
class WarmSweeps {
 public:
  /// Collective.
  WarmSweeps(const ProfilerContext& context, const std::vector<NetworkPart>& parts)
      : graph_(context.coarse.graph), times_(2 * graph_.size()) {
    add(context, {0, graph_.size()}, 0);
    for (const NetworkPart& part : parts) add(context, part, graph_.size());
  }

  SweepTimes& times() { return times_; }
  /// The sum of what counts, in ms.
  double sweep() {
    times_.begin_sweep();
    double sum_ms = 0;
    for (Block& block : blocks_) {
      for (int round = 0; round < block.rounds_before; ++round) run_once(block);
      sum_ms += run_once(block, [&](std::size_t i, double ms) {
        times_.add(block.first_time + block.part.of(graph_)[i].index(), ms);
      });
    }
    return sum_ms;
  }

 private:
  struct Block {
    NetworkPart part;
    std::size_t first_time;  ///< where its times begin
    std::unique_ptr<BlockRun> run;
    int rounds_before = 1;  ///< those that count
  };

  /// As many rounds on all ranks, so that all run the same block at the same time.
  void add(const ProfilerContext& context, const NetworkPart& part, std::size_t first_time) {
    Block& block =
        blocks_.emplace_back(Block{part, first_time, std::make_unique<BlockRun>(context, part)});
    run_once(block);
    double ms = run_once(block);
    context.transport.all_reduce_max({&ms, 1});
    block.rounds_before = static_cast<int>(std::clamp(kSettlingMs / ms, 1.0, kMostRounds));
  }

  /// In ms, without what it takes to receive. `note` gets each operator's.
  double run_once(Block& block, const std::function<void(std::size_t, double)>& note = {}) {
    block.run->receive();
    double sum_ms = 0;
    for (std::size_t i = 0; i < block.run->size(); ++i) {
      const double ms = block.run->run(i);
      if (note) note(i, ms);
      sum_ms += ms;
    }
    return sum_ms;
  }

  const Graph& graph_;
  SweepTimes times_;
  std::vector<Block> blocks_;
};

/// Of equal operators the mean.
void write_warm(const Graph& graph, const std::vector<Measurement>& merged, Bytes held,
                Configuration& into) {
  std::map<std::string, WarmMeasurement> sums;
  std::map<std::string, double> occurrences;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& signature = graph.op(OpId(i)).signature;
    WarmMeasurement& sum = sums[signature];
    sum.cold_ms += merged[i].ms;
    sum.ms += merged[graph.size() + i].ms;
    sum.samples += merged[graph.size() + i].samples;
    ++occurrences[signature];
  }
  for (auto& [signature, sum] : sums) {
    sum.cold_ms /= occurrences[signature];
    sum.ms /= occurrences[signature];
    sum.held_bytes = held;
    into.warm.insert_or_assign(signature, sum);
  }
}

}  // namespace

Measured Profiler::measure_warm(std::span<Configuration* const> into) {
  const ProfilerContext& context = *context_;
  const Graph& graph = context.coarse.graph;
  const Stopwatch stopwatch;
  const bool all_known = std::ranges::all_of(
      into, [&](const Configuration* known) { return has_warm_times(graph, *known); });
  const std::vector<NetworkPart> parts = parts_by_weights(graph, context.transport.size());
  if (mpi::broadcast(context.transport, all_known) || context.any_asynchronous() ||
      parts.size() < 2) {
    return {};
  }
  Measured measured{.missing = into.size() * graph.size()};
  std::optional<log::Progress> progress;
  const std::string what = "measuring operators in parts of the network, sweep";
  if (context.leader()) progress.emplace(what);
  WarmSweeps sweeps(context, parts);
  std::size_t all = 0;
  const Stopwatch since_ready;
  const Samples samples = measure(
      context.transport, context.protocol, context.disturbance, [&] { return sweeps.sweep(); },
      [&](const RunsDone& done) {
        all = done.all();
        if (progress)
          progress->show(progress_text(what, context.protocol, done, since_ready.seconds()));
      });
  measured.stopped = samples.stopped;
  if (measured.stopped) return measured;
  sweeps.times().drop_first(all - samples.ms.size());
  for (std::size_t team = 0; team < into.size(); ++team) {
    const auto merged = sweeps.times().merge(context.transport, samples, context.teams[team]);
    write_warm(graph, merged, most_held(graph, parts), *into[team]);
    add_settling(*into[team], "operators in parts", settling_of(samples));
    context.describe(*into[team], stopwatch, team);
  }
  measured.done = measured.missing;
  return measured;
}

}  // namespace hios
