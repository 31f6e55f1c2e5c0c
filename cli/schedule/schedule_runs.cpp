#include "cli/schedule/schedule_runs.h"

#include <algorithm>

#include "cli/process/output.h"
#include "cli/process/stop_request.h"
#include "cli/remedies.h"
#include "cli/schedule/throughput.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/batches/copies.h"
#include "scheduler/batches/divided.h"
#include "scheduler/batches/every_division.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/pipeline/period_bounds.h"

namespace hios::cli {

namespace {

constexpr double kShareOfBound = 0.25;  ///< of the time that reading has left

/// What the timeline says: who waits for how long, what travels.
void describe(const Timeline& timeline, ScheduleRun& run) {
  for (const TransferTimes& transfer : timeline.transfers) {
    if (transfer.size_bytes == 0) run.sent_bytes.reset();
    if (run.sent_bytes) *run.sent_bytes += transfer.size_bytes;
  }
  double busy_ms = 0;
  for (const auto& stages : timeline.stages) {
    for (const StageTimes& stage : stages) busy_ms += stage.end_ms - stage.start_ms;
  }
  run.devices_used = devices_used(run.file.schedule);
  const double whole_ms = static_cast<double>(run.devices_used) * timeline.latency_ms;
  // Sums in another order than the timeline's may be larger by a rounding.
  if (whole_ms > 0) run.waiting_share = std::max(0.0, 1 - busy_ms / whole_ms);
}

scheduler::DivisibleProblem divisible(const ScheduleInputs& inputs) {
  return {inputs.sized(), &inputs.platform(),
          [&inputs](const Graph& graph) { return inputs.price(graph); }};
}

/// A value that somebody else keeps.
template <class Value>
std::shared_ptr<const Value> borrowed(const Value& value) {
  return std::shared_ptr<const Value>(std::shared_ptr<void>(), &value);
}

/// What the algorithm has for the objective; where it has nothing, what it does for latency.
const scheduler::ScheduleFunction& function_of(const scheduler::Algorithm& algorithm,
                                               Objective objective) {
  const bool other = objective == Objective::kThroughput && algorithm.run_throughput;
  return other ? algorithm.run_throughput : algorithm.run;
}

/// What a schedule by that function is for.
Objective objective_of(const scheduler::Algorithm& algorithm, Objective objective) {
  return algorithm.run_throughput ? objective : algorithm.objective;
}

scheduler::DividedResult schedule_inputs(const Asked& asked, ScheduleInputs& inputs,
                                         Objective objective, const scheduler::Context& context) {
  const scheduler::Algorithm& algorithm = *asked.algorithm;
  if (inputs.sized()) {
    return schedule_divided(divisible(inputs), algorithm, asked.options, context);
  }
  const CostModel& costs = inputs.costs();
  return {{borrowed(inputs.graph()), borrowed(costs)},
          function_of(algorithm, objective)(inputs.graph(), costs, inputs.platform(), asked.options,
                                            context)};
}

/// Times the schedule again. Throws RunError where it breaks a rule.
void finish(ScheduleRun& run, const Platform& platform) {
  const auto findings = validate(*run.graph, platform, run.file.schedule, run.file.objective);
  if (!findings.empty()) {
    throw RunError(run.algorithm + " made a schedule that breaks a rule: " + findings.front().text);
  }
  describe(simulate(*run.graph, run.file.schedule, *run.costs), run);
}

ScheduleRun run_algorithm(const Asked& asked, ScheduleInputs& inputs,
                          const scheduler::LowerBound& bound, const Lent& lent, double left_s) {
  const scheduler::Algorithm& algorithm = *asked.algorithm;
  const Objective objective = objective_of(algorithm, lent.objective);
  const Stopwatch stopwatch;
  log::Progress progress(algorithm.name);
  scheduler::Context context;
  context.seed = lent.seed;
  context.bound = bound;
  if (objective == Objective::kThroughput) {
    context.bound = scheduler::pipeline::simple_period_bound(inputs.graph(), inputs.costs());
  }
  context.deadline = scheduler::Deadline(
      StopRequest::asked, [&] { return stopwatch.seconds(); }, left_s);
  context.progress = [&](std::string_view line) { progress.show(line); };

  auto [division, result] = schedule_inputs(asked, inputs, lent.objective, context);
  ScheduleRun run{.algorithm = algorithm.name,
                  .file = inputs.blank_file(),
                  .graph = std::move(division.graph),
                  .costs = std::move(division.costs)};
  run.file.seconds = stopwatch.seconds();
  run.file.algorithm = algorithm.name;
  run.file.options = result.options.non_defaults();
  run.file.outcome = result.outcome;
  run.file.extra["seed"] = lent.seed;
  run.file.extra["time_limit_s"] = lent.time_limit_s;
  run.file.schedule = std::move(result.schedule);
  run.file.objective = objective;
  run.file.predicted = {result.latency_ms, result.estimated_stages, result.lower_bound_ms,
                        result.bound, inputs.extrapolated_from()};
  finish(run, inputs.platform());
  if (lent.objective == Objective::kThroughput) {
    run.many = run.file.predicted;
    scheduler::LowerBound proven;
    if (objective == Objective::kThroughput) proven = {result.lower_bound_ms, result.bound};
    predict_throughput(*run.many, *run.graph, run.file.schedule, *run.costs, inputs, proven);
    if (objective == Objective::kThroughput) run.file.predicted = *run.many;
  }
  return run;
}

/// Data parallelism, what divided inputs are to be compared with; nothing where it is not possible.
std::optional<ScheduleRun> run_copies(ScheduleInputs& inputs, const scheduler::LowerBound& bound) {
  const Stopwatch stopwatch;
  auto made = scheduler::copies(divisible(inputs));
  if (!made) return {};
  ScheduleRun run{.algorithm = "copies",
                  .file = inputs.blank_file(),
                  .graph = std::move(made->division.graph),
                  .costs = std::move(made->division.costs)};
  run.file.seconds = stopwatch.seconds();
  run.file.algorithm = run.algorithm;
  run.file.schedule = std::move(made->schedule);
  run.file.predicted = {made->latency_ms, 0, scheduler::snap_to_latency(bound, made->latency_ms).ms,
                        bound.name, inputs.extrapolated_from()};
  finish(run, inputs.platform());
  return run;
}

scheduler::LowerBound bound_of(ScheduleInputs& inputs, const scheduler::Deadline& deadline) {
  return inputs.sized() ? bound_of_every_division(divisible(inputs), deadline)
                        : scheduler::lower_bound(inputs.graph(), inputs.costs(), deadline);
}

/// A bound that one algorithm proved is a bound of all that the others made. Throws RunError where
/// one of them is shorter: then it is none.
void share_bounds(std::vector<ScheduleRun>& runs) {
  const auto known = [](const ScheduleRun& run) {
    return run.refusal.empty() ? run.file.predicted.lower_bound_ms : -1;
  };
  const auto best = std::max_element(
      runs.begin(), runs.end(),
      [&](const ScheduleRun& a, const ScheduleRun& b) { return known(a) < known(b); });
  if (best == runs.end() || known(*best) <= 0) return;
  const scheduler::LowerBound bound{known(*best), best->file.predicted.bound};
  for (ScheduleRun& run : runs) {
    Prediction& predicted = run.file.predicted;
    if (!run.refusal.empty() || predicted.lower_bound_ms >= bound.ms) continue;
    predicted.lower_bound_ms = scheduler::snap_to_latency(bound, predicted.latency_ms).ms;
    predicted.bound = bound.name;
    if (predicted.lower_bound_ms > predicted.latency_ms) {
      throw RunError("the bound of " + best->algorithm + " (" + bound.name +
                     ") is above the schedule of " + run.algorithm);
    }
  }
}

}  // namespace

std::size_t devices_used(const Schedule& schedule) {
  std::size_t used = 0;
  for (const auto& stages : schedule.devices) used += !stages.empty();
  return used;
}

std::vector<ScheduleRun> run_algorithms(const std::vector<Asked>& asked, ScheduleInputs& inputs,
                                        const Lent& lent) {
  if (!inputs.sized()) inputs.costs();  // what is missing is missing for all
  // Once for all: it is the problem's, and no part of an algorithm's time.
  const auto left_s = [&] { return lent.time_limit_s - lent.since_start.seconds(); };
  const bool for_latency = std::any_of(asked.begin(), asked.end(), [&](const Asked& each) {
    return objective_of(*each.algorithm, lent.objective) == Objective::kLatency;
  });
  const scheduler::Deadline for_bound(
      StopRequest::asked, [&] { return lent.since_start.seconds(); }, kShareOfBound * left_s());
  const scheduler::LowerBound bound =
      for_latency ? bound_of(inputs, for_bound) : scheduler::LowerBound{0, "none"};
  const double each_s = left_s();
  std::vector<ScheduleRun> runs;
  std::size_t refused = 0;
  std::optional<ScheduleRun> copies;
  if (inputs.sized() && asked.size() > 1) copies = run_copies(inputs, bound);
  const bool many = lent.objective == Objective::kThroughput;
  if (many && asked.size() > 1) copies = copies_of_the_network(inputs);
  for (const Asked& each : asked) {
    if (StopRequest::asked() && runs.size() > refused) break;  // else the first has to end early
    try {
      runs.push_back(run_algorithm(each, inputs, bound, lent, each_s));
    } catch (const InputError& error) {
      if (++refused == asked.size() && !copies) throw;
      runs.push_back({.algorithm = each.algorithm->name, .refusal = error_line(error)});
    }
  }
  if (copies && !StopRequest::asked()) runs.push_back(*std::move(copies));
  if (!many) share_bounds(runs);  // one of periods is of blocks alone, and all have it
  return runs;
}

}  // namespace hios::cli
