// RunJob's runs of one inference at a time.
#include <algorithm>
#include <utility>

#include "engine/job/input_source.h"
#include "engine/job/operator_times.h"
#include "engine/job/ranks/wait_samples.h"
#include "engine/job/report_data.h"
#include "engine/job/run_job_state.h"
#include "engine/measure/cold_rounds.h"
#include "hios/base/numbers/statistics.h"
#include "hios/evaluate/simulate.h"

namespace hios::job {
namespace {

// Few, since they only show the parts of an iteration's time.
constexpr int kRecordedRuns = 7;

/// Returns the runs with the stages' clocks on: about as few as were asked for. The first may
/// contain what the clocks' set-up costs. Those of an emulated machine are alike, and long.
int recorded_runs(const Protocol& protocol, bool emulated) {
  if (emulated) return 1;
  return protocol.duration_s > 0 ? kRecordedRuns
                                 : std::clamp(protocol.iterations, 2, kRecordedRuns);
}

}  // namespace

/// Does a few more runs with the stages' clocks on, and keeps the timeline of the fastest.
void RunJob::State::record(Executor& executor, const std::function<void()>& before,
                           RunResults& results) {
  executor.record_stages(true);
  double best_ms = 0;
  RankTimeline mine_of_best;
  std::vector<double> overheads;
  OperatorSamples operators;
  WaitSamples waits;
  const int runs = recorded_runs(options.protocol, emulation != nullptr);
  for (int i = 0; i < runs; ++i) {
    const Protocol once{
        .warmup = 0, .iterations = 1, .stop = options.protocol.stop, .before = before};
    const Samples sample =
        measure(meeting_transport(), once, disturbance, [&] { return executor.run_once(); });
    results.stopped = sample.stopped;
    const double latency_ms = sample.ms.front();
    overheads.push_back(executor.overhead_ms());
    if (options.time_operators) operators.add(executor.operator_times());
    RankTimeline mine_of_run = executor.timeline();
    waits.add(mine_of_run, latency_ms);
    if (best_ms == 0 || latency_ms < best_ms) {
      best_ms = latency_ms;
      mine_of_best = std::move(mine_of_run);
    }
    if (results.stopped) break;
  }
  executor.record_stages(false);
  results.overhead_ms = summarize(overheads).median;
  transport().all_reduce_max({&results.overhead_ms, 1});
  results.measured = gather_timeline(transport(), best_ms, mine_of_best);
  if (emulation) note_sizes(*results.measured);
  results.waits = waits.gather(transport());
  if (!options.time_operators) return;
  const std::vector<OperatorTime> medians = operators.gather_medians(transport());
  if (inputs.machine) {
    const auto emulated = CostModel::from_graph(inputs.machine->graph, inputs.machine->platform);
    results.operators = report_operators(inputs, *results.measured, medians, &emulated);
  } else {
    results.operators =
        report_operators(inputs, *results.measured, medians, costs ? &*costs : nullptr);
  }
}

void RunJob::State::run_one_at_a_time(TensorSource& source, RunResults& results) {
  Executor executor(context(source), plan,
                    {.blocking = options.blocking,
                     .time_operators = options.time_operators,
                     .loads = loads(),
                     .overwrites_evicted = options.verify != Verify::kNo});
  if (!emulation) check_held(results);
  ColdRounds rounds(meeting_transport(), executor, options.protocol.stop,
                    packed ? &packed->file() : nullptr);
  Protocol protocol = options.protocol;
  if (cold()) protocol.before = [&] { rounds.before_inference(); };
  {
    const double emulated_s = emulation ? emulation->longest_wait_ms() / 1e3 : 0;
    const auto watching = watch.runs(watched(executor), emulated_s);
    Samples samples =
        measure(meeting_transport(), protocol, disturbance, [&] { return executor.run_once(); });
    results.iterations_ms = std::move(samples.ms);
    results.disturbed = std::move(samples.disturbed);
    results.stopped = samples.stopped;
    if (cold()) {
      results.cold_walls =
          rounds.walls(results.iterations_ms.size(), options.packed_weights.string());
      protocol.before = [&] { rounds.forget(); };
    }
    if (!results.stopped) record(executor, protocol.before, results);
  }
  if (emulation) {
    results.predicted = simulated();
    emulation->pass_time(false);
  } else if (costs && !cold()) {  // the costs know links, not the routes of a cold start
    results.predicted = simulate(inputs.network.coarse.graph, inputs.schedule.schedule, *costs);
  }
  const OutputOf output = [&](OpId op) { return executor.output(op); };
  // A backend shares the parameters of one source, and those of the run are what the plan has
  // loaded.
  InputSource other(options.seed, inputs.input);
  TensorSource& judge = cold() ? static_cast<TensorSource&>(other) : source;
  finish(results, output, [&] {
    if (cold() && options.verify == Verify::kOperators) {
      // The further run keeps the parameters that it finds, those that were evicted included.
      executor.forget_parameters();
      transport().barrier();
      executor.load_alone();
    }
    return verify(source, judge, output);
  });
  executor.close();
}

}  // namespace hios::job
