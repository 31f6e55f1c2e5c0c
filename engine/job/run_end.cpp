// The end of a RunJob's runs, of one inference at a time or of many.
#include <algorithm>
#include <map>
#include <tuple>

#include "engine/backend/operation.h"
#include "engine/job/ranks/device_agreement.h"
#include "engine/job/run_job_state.h"
#include "mpi/exchange.h"

namespace hios::job {
namespace {

// Far more than any build of the reference backend needs, sanitizers included.
constexpr double kReferenceSecondsPerGflop = 20;

/// Returns the floating-point operations of the largest operator, in 10^9.
double largest_gflop(const Network& network) {
  double largest = 0;
  for (const OperatorLayers& op : network.coarse.operators)
    largest = std::max(largest, flop(network.model, op));
  return largest / 1e9;
}

/// The values of an output that one operator computed, from this input on.
struct OutputValues {
  std::int64_t first_input = 0;
  std::vector<float> values;
  static auto fields(auto& self) { return std::tie(self.first_input, self.values); }
};

std::vector<float> joined(const std::vector<std::vector<OutputValues>>& by_rank) {
  std::map<std::int64_t, const std::vector<float>*> in_order;
  for (const auto& outputs : by_rank) {
    for (const OutputValues& output : outputs) in_order.emplace(output.first_input, &output.values);
  }
  std::vector<float> all;
  for (const auto& [first, values] : in_order)
    all.insert(all.end(), values->begin(), values->end());
  return all;
}

}  // namespace

void RunJob::State::check_held(RunResults& results) const {
  results.held = agree_on_limits(transport(), held_memory(planned[rank().index()], *mine.backend),
                                 platform, inputs.schedule_name);
}

void RunJob::State::finish(RunResults& results, const OutputOf& output,
                           const std::function<std::optional<Verified>()>& verified) const {
  watch.phase("writing the results");
  if (output) {
    for (const OpId op : plan.outputs) results.outputs.emplace_back(op, output(op));
  }
  if (options.gather_outputs && !results.stopped) gather_outputs(results);
  if (options.verify != Verify::kNo && !results.stopped) {
    results.verified = verified();
    results.stopped = !results.verified;
  }
  watch.phase("writing the results");
}

// To rank 0, in the model's order, one output after the other, so that only one is in flight.
void RunJob::State::gather_outputs(RunResults& results) const {
  const Network& network = inputs.network;
  for (const NamedOutput& output : network.model.named_outputs()) {
    const std::optional<OpId> producer = network.coarse.producer(output.tensor);
    std::vector<OutputValues> computed_here;
    for (const auto& [op, values] : results.outputs) {
      const auto [whole, range] = network.coarse.graph.batch(op);
      if (whole == producer) computed_here.push_back({range.begin, values});
    }
    const auto all = mpi::gather(transport(), computed_here);
    if (rank() == Rank(0))
      results.model_outputs.push_back(in_row_major_order(joined(all), output.dims));
  }
}

std::optional<Verified> RunJob::State::verify(TensorSource& source, TensorSource& judge,
                                              const OutputOf& output, bool reference) const {
  // Ranks exchange messages after each operator only, and the reference backend's loops take long.
  watch.phase("verifying", kReferenceSecondsPerGflop * largest_gflop(inputs.network));
  return verify_run({.rank = context(source),
                     .judge = judge,
                     .schedule = inputs.schedule,
                     .plan = plan,
                     .loads = loads(),
                     .sharers = sharers,
                     .output = output},
                    {.what = options.verify,
                     .tolerance = setup.tolerance,
                     .alike = setup.algorithms.has_value(),
                     .stop = options.protocol.stop,
                     .reference = reference && !emulation,
                     .whole = !emulation});
}

}  // namespace hios::job
