// In each sweep a rank runs the whole network and then each block of it, each several times in a
// row. The last round counts: the rounds before leave the caches as a device finds them that runs
// nothing but this block. Caches take a few rounds to settle, so small blocks run more often. The
// whole and the blocks take turns, because their difference counts, and a machine's speed drifts.
#include "engine/measure/warm_operators.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/measure/block_run.h"
#include "hios/base/log.h"
#include "hios/evaluate/blocks.h"
#include "hios/profile/profile_gaps.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

/// The time, and the largest number of rounds, that a block is run before a round counts. A block
/// that takes longer reads far more than caches hold.
constexpr double kSettlingMs = 20;
constexpr double kMostRounds = 32;

/// Returns the largest number of bytes that a device holds which runs one of the blocks.
Bytes most_held(const Graph& graph, const std::vector<NetworkBlock>& blocks) {
  Bytes most = 0;
  for (const NetworkBlock& block : blocks) {
    Bytes held = peak_bytes(graph, block.operators(graph));
    for (const OpId op : block.operators(graph)) held += graph.op(op).parameter_bytes;
    most = std::max(most, held);
  }
  return most;
}

/// The network and its blocks, ready to be swept. Times are indexed by OpId: first those in the
/// whole network, then those in blocks.
class WarmSweeps {
 public:
  /// Collective.
  WarmSweeps(const ProfilerContext& context, const std::vector<NetworkBlock>& blocks)
      : graph_(context.coarse.graph), times_(2 * graph_.size()) {
    add(context, {0, graph_.size()}, 0);
    for (const NetworkBlock& block : blocks) add(context, block, graph_.size());
  }

  SweepTimes& times() { return times_; }
  /// Runs a sweep. Returns the sum of the rounds that count, in ms.
  double sweep() {
    times_.begin_sweep();
    double sum_ms = 0;
    for (TimedBlock& block : blocks_) {
      for (int round = 0; round < block.rounds_before; ++round) run_once(block);
      sum_ms += run_once(block, [&](std::size_t i, double ms) {
        times_.add(block.first_time + block.operators.operators(graph_)[i].index(), ms);
      });
    }
    return sum_ms;
  }

 private:
  struct TimedBlock {
    NetworkBlock operators;
    std::size_t first_time;  ///< index of its first time
    std::unique_ptr<BlockRun> run;
    int rounds_before = 1;  ///< rounds before the one that counts
  };

  /// Chooses the same number of rounds on all ranks, so that all run the same block at the same
  /// time.
  void add(const ProfilerContext& context, const NetworkBlock& operators, std::size_t first_time) {
    TimedBlock& block = blocks_.emplace_back(
        TimedBlock{operators, first_time, std::make_unique<BlockRun>(context, operators)});
    run_once(block);
    double ms = run_once(block);
    context.transport.all_reduce_max({&ms, 1});
    block.rounds_before = static_cast<int>(std::clamp(kSettlingMs / ms, 1.0, kMostRounds));
  }

  /// Runs a block. Returns its time in ms, without that of receive(). `note` is called with each
  /// operator's time.
  double run_once(TimedBlock& block, const std::function<void(std::size_t, double)>& note = {}) {
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
  std::vector<TimedBlock> blocks_;
};

/// Writes the mean over equal operators.
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

Measured measure_warm(const ProfilerContext& context, std::span<Configuration* const> into) {
  const Graph& graph = context.coarse.graph;
  const Stopwatch stopwatch;
  const bool all_known = std::ranges::all_of(
      into, [&](const Configuration* known) { return has_warm_times(graph, *known); });
  const std::vector<NetworkBlock> blocks = blocks_by_weights(graph, context.transport.size());
  if (mpi::broadcast(context.transport, all_known) || context.any_asynchronous() ||
      blocks.size() < 2) {
    return {};
  }
  Measured measured{.missing = into.size() * graph.size()};
  std::optional<log::Progress> progress;
  const std::string what = "measuring operators in blocks of the network, sweep";
  if (context.leader()) progress.emplace(what);
  WarmSweeps sweeps(context, blocks);
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
    write_warm(graph, merged, most_held(graph, blocks), *into[team]);
    add_settling(*into[team], "operators in blocks", settling_of(samples));
    context.describe(*into[team], stopwatch, team);
  }
  measured.done = measured.missing;
  return measured;
}

}  // namespace hios
