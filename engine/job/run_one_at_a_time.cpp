// Part of run_job_state.h: runs of one inference at a time.
#include <algorithm>
#include <map>
#include <tuple>

#include "engine/backend/operation.h"
#include "engine/job/operator_times.h"
#include "engine/job/rank_context.h"
#include "engine/job/ranks/device_agreement.h"
#include "engine/job/report_data.h"
#include "hios/base/numbers/statistics.h"
#include "hios/evaluate/simulate.h"
#include "mpi/exchange.h"

namespace hios::job {
namespace {

// Few, since they only tell where the time of an iteration goes.
constexpr int kRecordedRuns = 7;

// Far more than any build of the reference backend needs, sanitizers included.
constexpr double kReferenceSecondsPerGflop = 20;

/// Of the operator that computes most.
double largest_gflop(const Network& network) {
  double largest = 0;
  for (const OperatorLayers& op : network.coarse.operators)
    largest = std::max(largest, flop(network.model, op));
  return largest / 1e9;
}

/// What one operator made of an output, from this input on.
struct OutputPart {
  std::int64_t first_input = 0;
  std::vector<float> values;
  static auto fields(auto& self) { return std::tie(self.first_input, self.values); }
};

std::vector<float> joined(const std::vector<std::vector<OutputPart>>& by_rank) {
  std::map<std::int64_t, const std::vector<float>*> in_order;
  for (const auto& parts : by_rank) {
    for (const OutputPart& part : parts) in_order.emplace(part.first_input, &part.values);
  }
  std::vector<float> all;
  for (const auto& [first, values] : in_order)
    all.insert(all.end(), values->begin(), values->end());
  return all;
}

}  // namespace

/// A few more runs with the stages' clocks on; the quickest of them is the one that is told about.
void RunJob::State::record(Executor& executor, RunResults& results) {
  executor.record_stages(true);
  double best_ms = 0;
  RankTimeline mine_of_best;
  std::vector<double> overheads;
  OperatorSamples operators;
  for (int i = 0; i < kRecordedRuns; ++i) {
    const Protocol once{.warmup = 0, .iterations = 1, .stop = options.protocol.stop};
    const Samples sample =
        measure(transport(), once, disturbance, [&] { return executor.run_once(); });
    results.stopped = sample.stopped;
    const double latency_ms = sample.ms.front();
    overheads.push_back(executor.overhead_ms());
    if (options.time_operators) operators.add(executor.operator_times());
    if (best_ms == 0 || latency_ms < best_ms) {
      best_ms = latency_ms;
      mine_of_best = executor.timeline();
    }
    if (results.stopped) break;
  }
  executor.record_stages(false);
  results.overhead_ms = summarize(overheads).median;
  transport().all_reduce_max({&results.overhead_ms, 1});
  results.measured = gather_timeline(transport(), best_ms, mine_of_best);
  if (!options.time_operators) return;
  results.operators = report_operators(
      inputs, *results.measured, operators.gather_medians(transport()), costs ? &*costs : nullptr);
}

/// To rank 0, in the model's order. One after the other: only one travels at a time.
void RunJob::State::gather_outputs(RunResults& results) const {
  const Network& network = inputs.network;
  for (const NamedOutput& output : network.model.named_outputs()) {
    const std::optional<OpId> maker = network.coarse.producer(output.tensor);
    std::vector<OutputPart> made_here;
    for (const auto& [op, values] : results.outputs) {
      const auto [whole, range] = network.coarse.graph.batch(op);
      if (whole == maker) made_here.push_back({range.begin, values});
    }
    const auto all = mpi::gather(transport(), made_here);
    if (rank() == Rank(0))
      results.model_outputs.push_back(in_row_major_order(joined(all), output.dims));
  }
}

std::optional<Verified> RunJob::State::verify(TensorSource& source, const OutputOf& output,
                                              bool reference) const {
  // Ranks tell each other after each operator; the reference backend's plain loops take long.
  watch.phase("verifying", kReferenceSecondsPerGflop * largest_gflop(inputs.network));
  const bool alike =
      same_gpus(identities) &&
      std::all_of(devices.begin(), devices.end(), [&](const RankDevice& one) {
        return one.backend == devices.front().backend && one.precision == devices.front().precision;
      });
  return verify_run({.transport = tensors->get(),
                     .network = inputs.network,
                     .schedule = inputs.schedule,
                     .plan = plan,
                     .backend = *mine.backend,
                     .source = source,
                     .output = output},
                    {.what = options.verify,
                     .tolerance = setup.tolerance,
                     .alike = alike,
                     .stop = options.protocol.stop,
                     .reference = reference});
}

/// Once all operators are bound.
void RunJob::State::check_held(RunResults& results) const {
  results.held = agree_on_limits(transport(), held_memory(planned[rank().index()], *mine.backend),
                                 platform, inputs.schedule_name);
}

void RunJob::State::run_one_at_a_time(TensorSource& source, RunResults& results) {
  const Network& network = inputs.network;
  Executor executor(network.coarse, network.model, plan, *mine.backend, tensors->get(), source,
                    {.blocking = options.blocking, .time_operators = options.time_operators});
  check_held(results);
  {
    const auto watching = watch.runs(watched(executor));
    Samples samples =
        measure(transport(), options.protocol, disturbance, [&] { return executor.run_once(); });
    results.iterations_ms = std::move(samples.ms);
    results.disturbed = std::move(samples.disturbed);
    results.stopped = samples.stopped;
    if (!results.stopped) record(executor, results);
  }
  watch.phase("writing the results");
  for (const OpId op : plan.outputs) results.outputs.emplace_back(op, executor.output(op));
  if (options.gather_outputs && !results.stopped) gather_outputs(results);
  if (costs) results.predicted = simulate(network.coarse.graph, inputs.schedule.schedule, *costs);
  if (options.verify != Verify::kNo && !results.stopped) {
    results.verified = verify(source, [&](OpId op) { return executor.output(op); });
    results.stopped = !results.verified;
  }
  watch.phase("writing the results");
  executor.close();
}

}  // namespace hios::job
