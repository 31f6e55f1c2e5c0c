// Part of run_job_state.h: runs of many inferences in flight.
#include <algorithm>

#include "engine/job/input_source.h"
#include "engine/job/run_job_state.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/many_inferences.h"

namespace hios::job {

/// Every input's outputs bit by bit, the first one's with the reference backend, too.
std::optional<Verified> RunJob::State::verify_inputs(TensorSource& source,
                                                     const Pipeline& pipeline) const {
  std::optional<Verified> all;
  for (std::size_t input = 0; input < instances->inputs; ++input) {
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

std::optional<PredictedInstances> RunJob::State::predict_instances() const {
  const Graph& graph = inputs.network.coarse.graph;
  Schedule schedule = inputs.schedule.schedule;
  schedule.devices.resize(schedule.devices.size() * instances->copies);  // of the first
  const auto copies = static_cast<double>(instances->copies);
  if (costs) {
    const std::size_t enough = 4 * (instances->in_flight + schedule.devices.size()) + 32;
    const ManyInferences many =
        simulate_many(graph, schedule, *costs, enough, instances->in_flight);
    return PredictedInstances{many.period_ms / copies, many.latency_ms,
                              period_of(graph, schedule, *costs).bottleneck.index()};
  }
  const ScheduleFile& file = inputs.schedule;
  if (!file.has_prediction || !file.predicted.throughput) return {};
  if (file.predicted.throughput->in_flight != instances->in_flight) return {};
  PredictedInstances said{file.predicted.throughput->period_ms / copies, {}};
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
                     .step = instances->copies,
                     .traced = kTraced});
  check_held(results);
  {
    const auto watching = watch.runs(watched(pipeline));
    results.instances = measure_instances({.transport = transport(),
                                           .protocol = options.protocol,
                                           .options = *instances,
                                           .devices = inputs.schedule.devices.size(),
                                           .reader = disturbance},
                                          pipeline);
  }
  const MeasuredInstances& measured = *results.instances;
  results.iterations_ms = measured.latencies_ms;
  results.disturbed = measured.disturbed_latencies;
  results.stopped = measured.stopped;
  results.predicted_instances = predict_instances();
  for (const RankOfInstances& each : measured.ranks)
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
