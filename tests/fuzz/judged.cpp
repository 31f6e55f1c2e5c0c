#include "fuzz/judged.h"

#include "fuzz/reading.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/registry.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {
namespace {

constexpr double kRounding = 1e-8;

bool nearly(double a, double b) { return std::abs(a - b) <= kRounding * std::max(a, b); }

/// Runs an algorithm with options that keep it short. Empty if the algorithm refuses the problem.
std::optional<scheduler::ScheduleResult> result_of(const scheduler::Algorithm& algorithm,
                                                   const CostModel& costs) {
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=20");
  if (options.has("generations")) options.set("generations=3");
  if (options.has("islands")) options.set("islands=1");
  if (options.has("threads")) options.set("threads=1");
  if (options.has("max_endings")) options.set("max_endings=2000");
  if (options.has("nodes")) options.set("nodes=5");
  try {
    return algorithm.run(scheduler::Problem(costs), options, {});
  } catch (const InputError& error) {
    promise_a_line(error.what());
    return std::nullopt;
  }
}

}  // namespace

bool is_small(const Graph& graph) { return graph.size() <= 16 && graph.edge_count() <= 64; }

void judge_algorithms(const Graph& graph, const Platform& platform, const CostModel& costs) {
  for (const scheduler::Algorithm& algorithm : scheduler::built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // it needs routes
    const auto result = result_of(algorithm, costs);
    if (!result) continue;
    const auto findings = validate(graph, platform, result->schedule);
    promise(findings.empty(),
            algorithm.name + ": " + (findings.empty() ? std::string() : findings.front().text));
    promise_a_time(result->latency_ms, algorithm.name);
    const auto slow = slow_latency_ms(graph, result->schedule, plain_costs_of(costs));
    promise(slow && nearly(*slow, result->latency_ms),
            algorithm.name + ": the latency is " + std::to_string(result->latency_ms) + ", not " +
                std::to_string(slow.value_or(-1)));
    promise(result->lower_bound_ms <= result->latency_ms * (1 + kRounding),
            algorithm.name + ": the bound " + result->bound + " is " +
                std::to_string(result->lower_bound_ms) + ", above the latency " +
                std::to_string(result->latency_ms));
  }
}

}  // namespace hios::test
