#include "engine/measure/transfers/shared_share.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/measure/operators.h"
#include "engine/run/executor.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "mpi/exchange.h"
#include "mpi/shared/shared_arena.h"

namespace hios {
namespace {

constexpr int kMostWarmUps = 2, kMostRounds = 10;
constexpr std::string_view kWhat = "measuring operators that read shared memory, run";

using TwoRanks = std::pair<Rank, Rank>;

/// Returns the first two ranks that share memory.
TwoRanks first_two(std::span<const std::size_t> sharers) {
  for (std::size_t a = 0; a < sharers.size(); ++a) {
    for (std::size_t b = a + 1; b < sharers.size(); ++b) {
      if (sharers[a] == sharers[b]) return {Rank(a), Rank(b)};
    }
  }
  throw std::logic_error("no two ranks share memory");
}

/// The network on two ranks together, and on each alone, as this rank runs it.
class RunsOfTwo {
 public:
  /// `arena` and `plan`, of plan_of_two(), outlive it.
  RunsOfTwo(const ProfilerContext& context, TwoRanks two, const RankPlan& plan, std::byte* arena)
      : transport_(context.transport),
        two_(two),
        rank_(context),
        plan_(plan),
        alone_plans_(plans_of_shards(context.coarse, context.model, transport_.rank())),
        alone_ms_(context.coarse.graph.size(), 0) {
    rank_.shared_arena = arena;
    together_ = std::make_unique<Executor>(rank_, plan_);
    together_->record_stages(true);
    for (const RankPlan& each : alone_plans_) {
      alone_.push_back(std::make_unique<Executor>(context, each));
      alone_.back()->record_stages(true);
    }
  }

  /// Runs the network alone and together, and returns the time, with that of waiting.
  double run() {
    const Stopwatch stopwatch;
    for (const Rank rank : {two_.first, two_.second}) {
      if (rank == transport_.rank()) run_alone();
      transport_.barrier();
    }
    together_->run_once();
    double lost_ms = 0;
    each_operator(plan_, *together_,
                  [&](OpId op, double ms) { lost_ms += ms - alone_ms_[op.index()]; });
    lost_ms_.push_back(lost_ms);
    return stopwatch.ms();
  }

  /// Returns the times that this rank's operators lost, by run.
  std::span<const double> lost_ms() const { return lost_ms_; }

  /// Returns the time that curves predict as lost, for the tensors that this rank sends.
  double expected_ms(std::span<const TransferCurve> curves) const {
    double sum_ms = 0;
    for (const PlannedMessage& message : plan_.sends) {
      const auto curve = std::ranges::find_if(curves, [&](const TransferCurve& each) {
        return each.from == transport_.rank().index() && each.to == message.peer.index();
      });
      if (message.shared && curve != curves.end())
        sum_ms += curve_ms(curve->shared, message.size_bytes()) - curve->points.front().second;
    }
    return sum_ms;
  }

  /// Collective.
  void close() {
    for (const auto& executor : alone_) executor->close();
    together_->close();
  }

 private:
  template <class Function>
  static void each_operator(const RankPlan& plan, const Executor& executor, Function&& function) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const StageTimes& clock = executor.clocks().stages[s];
      function(plan.stages[s].groups.front().front(), clock.end_ms - clock.start_ms);
    }
  }

  void run_alone() {
    for (std::size_t p = 0; p < alone_.size(); ++p) {
      alone_[p]->run_once();
      each_operator(alone_plans_[p], *alone_[p],
                    [&](OpId op, double ms) { alone_ms_[op.index()] = ms; });
    }
  }

  mpi::Transport& transport_;
  const TwoRanks two_;
  RankContext rank_;
  const RankPlan& plan_;
  const std::vector<RankPlan> alone_plans_;
  std::unique_ptr<Executor> together_;
  std::vector<std::unique_ptr<Executor>> alone_;
  std::vector<double> alone_ms_;  // by OpId: of the last run
  std::vector<double> lost_ms_;
};

/// Opens the arena of the ranks that share memory. Returns false, on all ranks, where it cannot be
/// opened.
bool open_arena(const ProfilerContext& context, std::span<const std::size_t> sharers,
                Bytes size_bytes, std::unique_ptr<mpi::SharedMemory>& arena) {
  try {
    arena = mpi::open_shared_arena(context.transport, sharers, size_bytes);
    return true;
  } catch (const RunError& error) {
    if (context.leader()) {
      log::warning(std::string(error.what()) +
                   ": shared memory counts with all that a bare loop loses in it");
    }
    return false;
  }
}

double sum_over_ranks(mpi::Transport& transport, double ms) {
  const auto all = mpi::gather(transport, ms);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace

RankPlan plan_of_two(const CoarseGraph& coarse, std::span<const std::size_t> sharers, Rank rank) {
  const auto [first, second] = first_two(sharers);
  Schedule schedule;
  schedule.devices.resize(sharers.size());
  bool is_second = false;
  for (const OpId op : coarse.graph.topological()) {
    schedule.devices[(is_second ? second : first).index()].push_back({{{op}}});
    is_second = !is_second;
  }
  return plan_rank(coarse, schedule, rank, {.sharers = {sharers.begin(), sharers.end()}});
}

std::optional<SharedShare> measure_shared_share(const ProfilerContext& context,
                                                std::span<Configuration* const> into,
                                                std::span<const std::size_t> sharers) {
  mpi::Transport& transport = context.transport;
  const RankPlan plan = plan_of_two(context.coarse, sharers, transport.rank());
  std::unique_ptr<mpi::SharedMemory> arena;
  if (!open_arena(context, sharers, plan.shared_bytes, arena)) return SharedShare{};
  RunsOfTwo runs(context, first_two(sharers), plan, arena ? arena->data() : nullptr);
  const Protocol rounds{.warmup = std::min(context.protocol.warmup, kMostWarmUps),
                        .iterations = std::min(context.protocol.iterations, kMostRounds),
                        .stop = context.protocol.stop};
  std::optional<log::Progress> progress;
  if (context.leader()) progress.emplace(kWhat);
  const Stopwatch stopwatch;
  const Samples samples = measure(
      transport, rounds, context.disturbance, [&] { return runs.run(); },
      [&](const RunsDone& done) {
        if (progress) progress->show(progress_text(kWhat, rounds, done, stopwatch.seconds()));
      });
  runs.close();
  if (samples.stopped || samples.ms.empty()) return {};
  const double lost = sum_over_ranks(
      transport, undisturbed_median(runs.lost_ms().last(samples.ms.size()), samples.disturbed));
  const std::size_t team = context.team_of(transport.rank());
  const double expected = sum_over_ranks(transport, runs.expected_ms(into[team]->transfers));
  const double share = expected > 0 ? std::clamp(lost / expected, 0.0, 1.0) : 1;
  return SharedShare{share, static_cast<std::int64_t>(samples.ms.size())};
}

}  // namespace hios
