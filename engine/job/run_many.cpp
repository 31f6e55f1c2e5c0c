// RunJob's runs of many inferences in flight.
#include <algorithm>

#include "engine/job/input_source.h"
#include "engine/job/run_job_state.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/many_inferences.h"

namespace hios::job {

// Compares the outputs of every input bit by bit, and those of the first input also with the
// reference backend.
std::optional<Verified> RunJob::State::verify_inputs(TensorSource& source,
                                                     const Pipeline& pipeline) const {
  std::optional<Verified> all;
  for (std::size_t input = 0; input < inferences->inputs; ++input) {
    OneInput one(source, input);
    OutputOf output;
    if (pipeline.ran(input)) output = [&](OpId op) { return pipeline.output(op, input); };
    const std::optional<Verified> found = verify(one, one, output, input == 0);
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
  // The devices of the other copies are idle.
  schedule.devices.resize(schedule.devices.size() * inferences->copies);
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
  Pipeline pipeline(context(source), plan,
                    {.blocking = options.blocking,
                     .first = copy_device().copy,
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
  OutputOf output;
  if (pipeline.ran(0)) output = [&](OpId op) { return pipeline.output(op, 0); };
  finish(results, output, [&] { return verify_inputs(source, pipeline); });
  pipeline.close();
}

}  // namespace hios::job
