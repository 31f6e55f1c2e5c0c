// Stages are measured in batches (engine/measure/stages/stage_batch.h), so that thousands of
// primitives need not exist at once, and a time limit can end the work between two batches. Weights
// are kept from batch to batch.
#include "engine/measure/stages/stages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/measure/launch.h"
#include "engine/measure/stages/kept_weights.h"
#include "engine/measure/stages/stage_batch.h"
#include "engine/measure/stages/stage_time.h"
#include "hios/base/log.h"
#include "hios/evaluate/cost_model.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

// Stages measured together: enough for a sweep of tens of milliseconds, whose fastest quarter is
// meaningful; few enough to hold their weights at once.
constexpr std::size_t kStagesInBatch = 64;

std::vector<Stage> missing_stages(const ProfilerContext& context, const std::vector<Stage>& asked,
                                  const Configuration& into) {
  std::vector<Stage> missing;
  std::set<StageKey> seen;
  for (const Stage& stage : asked) {
    if (stage.groups.size() == 1) continue;
    const StageKey key = stage_key(context.coarse.graph, stage);
    if (!into.stages.contains(key) && seen.insert(key).second) missing.push_back(stage);
  }
  return mpi::broadcast(context.transport, missing);
}

// Orders stages topologically and distributes them to batches in turn. A batch then spans the
// network and uses an operator's weights again as late as a run does: neighbours, which share
// operators, are in different batches.
std::vector<Stage> dealt(const Graph& graph, std::vector<Stage> stages) {
  std::vector<std::size_t> position(graph.size());
  for (std::size_t i = 0; i < position.size(); ++i) position[graph.topological()[i].index()] = i;
  const auto first = [&](const Stage& stage) {
    return position[stage.groups.front().front().index()];
  };
  std::stable_sort(stages.begin(), stages.end(),
                   [&](const Stage& a, const Stage& b) { return first(a) < first(b); });
  const std::size_t batches = (stages.size() + kStagesInBatch - 1) / kStagesInBatch;
  std::vector<Stage> result;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (std::size_t i = batch; i < stages.size(); i += batches) result.push_back(stages[i]);
  }
  return result;
}

// Measures the stages of one team, batch after batch.
class StageMeasuring {
 public:
  StageMeasuring(const ProfilerContext& context, Configuration& into, double time_limit_s,
                 std::size_t team)
      : context_(context),
        into_(into),
        time_limit_s_(time_limit_s),
        settle_left_s_(context.protocol.settle_s),
        team_(team) {}

  Measured measure_all(std::span<const Stage> missing);

 private:
  enum class Batch { kDone, kNoTime, kStopped };
  Batch measure_batch(std::span<const Stage> batch, std::size_t batches_left);
  BatchTime time_of(double sweep_s, double made_s, std::size_t batches_left) const;
  void show(log::Progress& progress, std::size_t done, std::size_t all) const;

  const ProfilerContext& context_;
  Configuration& into_;
  double time_limit_s_;
  double settle_left_s_;  // for sweeps of all batches until they settle
  std::size_t team_;
  std::size_t batches_ = 0;  // measured so far
  double later_made_s_ = 0;  // the time to make all of them but the first
  KeptWeights kept_;
  Stopwatch stopwatch_;
};

/// Returns the known times of a batch that took `made_s` to make.
BatchTime StageMeasuring::time_of(double sweep_s, double made_s, std::size_t batches_left) const {
  BatchTime time{.left_s = time_limit_s_ - stopwatch_.seconds(),
                 .sweep_s = sweep_s,
                 .warmup_s = warmup_after(batches_ == 0 ? kLongIdle : made_s, context_.protocol),
                 .batches = batches_left,
                 .settle_s = settle_left_s_};
  // The first batch makes weights that later ones find.
  if (batches_ > 0) {
    const double each_s = (later_made_s_ + made_s) / static_cast<double>(batches_);
    time.coming_s = each_s + warmup_after(each_s, context_.protocol);
  }
  return time;
}

// Unless it returns kDone, no time of the batch is kept.
StageMeasuring::Batch StageMeasuring::measure_batch(std::span<const Stage> batch,
                                                    std::size_t batches_left) {
  const Team& team = context_.teams[team_];
  mpi::Transport& transport = context_.transport;
  const Stopwatch stopwatch;
  std::unique_ptr<StageBatch> stages;  // none on ranks of other teams
  if (team_ == context_.mine) {
    stages = kept_.make_batch(context_, batch, context_.cold_bytes());
  }
  std::vector<double> ms(batch.size());
  const double made_s = stopwatch.seconds();
  transport.barrier();
  const Stopwatch sweep_stopwatch;
  if (stages) stages->sweep(ms);  // warm-up, and the time of a sweep
  Protocol protocol = protocol_of_batch(context_.protocol,
                                        time_of(sweep_stopwatch.seconds(), made_s, batches_left));
  std::tie(protocol.iterations, protocol.settle_s, protocol.warmup_s) = mpi::broadcast(
      transport, std::tuple(protocol.iterations, protocol.settle_s, protocol.warmup_s),
      team.front());
  if (protocol.iterations == 0) return Batch::kNoTime;

  SweepTimes sweeps(batch.size());
  std::size_t warm_ups = 0;
  const auto sweep = [&] {
    if (!stages) return 0.0;
    const double total = stages->sweep(ms);
    sweeps.begin_sweep();
    for (std::size_t i = 0; i < ms.size(); ++i) sweeps.add(i, ms[i]);
    return total;
  };
  const Samples samples = measure(transport, protocol, context_.disturbance, sweep,
                                  [&](const RunsDone& done) { warm_ups = done.warm_ups; });
  if (samples.stopped) return Batch::kStopped;
  if (stages) sweeps.drop_first(warm_ups);
  for (std::size_t i = static_cast<std::size_t>(protocol.iterations); i < samples.ms.size(); ++i) {
    settle_left_s_ -= samples.ms[i] / 1000;
  }
  const std::vector<Measurement> merged = sweeps.merge(transport, samples, team);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    into_.stages[stage_key(context_.coarse.graph, batch[i])] =
        without_marks(merged[i], into_.launch);
  }
  add_settling(into_, "stages", settling_of(samples));
  if (stages) kept_.keep(stages->take_operators());
  if (batches_++ > 0) later_made_s_ += made_s;
  return Batch::kDone;
}

void StageMeasuring::show(log::Progress& progress, std::size_t done, std::size_t all) const {
  const double elapsed = stopwatch_.seconds();
  const double seconds_left =
      done == 0 ? time_limit_s_
                : elapsed * static_cast<double>(all - done) / static_cast<double>(done);
  progress.update(done, all, std::min(seconds_left, time_limit_s_ - elapsed));
}

Measured StageMeasuring::measure_all(std::span<const Stage> missing) {
  std::optional<log::Progress> progress;
  if (context_.leader()) progress.emplace("measuring stages");
  Measured measured{missing.size(), 0};
  while (measured.done < missing.size()) {
    if (progress) show(*progress, measured.done, missing.size());
    const std::size_t left = missing.size() - measured.done;
    const std::size_t batches_left = (left + kStagesInBatch - 1) / kStagesInBatch;
    const std::size_t size = (left + batches_left - 1) / batches_left;
    const Batch batch = measure_batch(missing.subspan(measured.done, size), batches_left);
    measured.stopped = batch == Batch::kStopped;
    if (batch != Batch::kDone) break;
    measured.done += size;
  }
  context_.describe(into_, stopwatch_, team_);
  return measured;
}

}  // namespace

Measured measure_stages(const ProfilerContext& context, const std::vector<Stage>& stages,
                        Configuration& into, double time_limit_s, std::size_t team) {
  const std::vector<Stage> missing =
      dealt(context.coarse.graph, missing_stages(context, stages, into));
  if (missing.empty()) return {};
  return StageMeasuring(context, into, time_limit_s, team).measure_all(missing);
}

}  // namespace hios
