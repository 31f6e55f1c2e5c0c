// Part of run_job_state.h: runs of many inferences in flight.
#include <algorithm>

#include "engine/job/input_source.h"
#include "engine/job/rank_context.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/many_inferences.h"

namespace hios::job {

/// Every input's outputs bit by bit, the first one's with the reference backend, too.
std::optional<Verified> RunJob::State::verify_inputs(TensorSource& source,
                                                     const Pipeline& pipeline) const {
  std::optional<Verified> all;
  for (std::size_t input = 0; input < inferences->inputs; ++input) {
    OneInput one(source, input);
    OutputOf output;
    if (pipeline.ran(input)) output = [&](OpId op) { return pipeline.output(op, input); };
    const std::optional<Verified> found = verify(one, output, input == 0);
    if (!found) return {};
    if (all) {
      all->add(*found);
    } else {
      all = found;
    }
  }
  return all;
}

std::optional<PredictedInferences> RunJob::State::predict_inferences() const {
  const Graph& graph = inputs.network.coarse.graph;
  Schedule schedule = inputs.schedule.schedule;
  schedule.devices.resize(schedule.devices.size() * inferences->copies);  // of the first
  const auto copies = static_cast<double>(inferences->copies);
  if (costs) {
    const std::size_t enough = 4 * (inferences->in_flight + schedule.devices.size()) + 32;
    const ManyInferences many =
        simulate_many(graph, schedule, *costs, enough, inferences->in_flight);
    return PredictedInferences{many.period_ms / copies, many.latency_ms,
                               period_of(graph, schedule, *costs).bottleneck.index()};
  }
  const ScheduleFile& file = inputs.schedule;
  if (!file.has_prediction || !file.predicted.throughput) return {};
  if (file.predicted.throughput->in_flight != inferences->in_flight) return {};
  PredictedInferences said{file.predicted.throughput->period_ms / copies, {}};
  for (std::size_t d = 0; d < file.devices.size(); ++d) {
    if (file.devices[d].name == file.predicted.throughput->bottleneck) said.bottleneck = d;
  }
  return said;
}

void RunJob::State::run_many(TensorSource& source, RunResults& results) {
  constexpr std::size_t kTraced = 6;
  const Network& network = inputs.network;
  Pipeline pipeline(network.coarse, network.model, plan, *mine.backend, tensors->get(), source,
                    {.blocking = options.blocking,
                     .first = place().copy,
                     .step = inferences->copies,
                     .traced = kTraced});
  check_held(results);
  {
    const auto watching = watch.runs(watched(pipeline));
    results.inferences = measure_inferences({.transport = transport(),
                                             .protocol = options.protocol,
                                             .options = *inferences,
                                             .devices = inputs.schedule.devices.size(),
                                             .reader = disturbance},
                                            pipeline);
  }
  const MeasuredInferences& measured = *results.inferences;
  results.iterations_ms = measured.latencies_ms;
  results.disturbed = measured.disturbed_latencies;
  results.stopped = measured.stopped;
  results.predicted_inferences = predict_inferences();
  for (const RankOfInferences& each : measured.ranks)
    results.overhead_ms = std::max(results.overhead_ms, each.each.own_ms);
  watch.phase("writing the results");
  if (pipeline.ran(0)) {
    for (const OpId op : plan.outputs) results.outputs.emplace_back(op, pipeline.output(op, 0));
  }
  if (options.gather_outputs && !results.stopped) gather_outputs(results);
  if (options.verify != Verify::kNo && !results.stopped) {
    results.verified = verify_inputs(source, pipeline);
    results.stopped = !results.verified;
  }
  watch.phase("writing the results");
  pipeline.close();
}

}  // namespace hios::job
