#include "scheduler/algorithms/baselines/annealing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/deadline.h"
#include "scheduler/list/mapping.h"
#include "scheduler/structures/exponential.h"

// The papers leave the temperatures open. Here they fall by the same factor a hundred times, from a
// mean operator's time (on its fastest device) to a thousandth of that. At first a step that
// lengthens the schedule by one operator is accepted every third time, at last never.
//
// O(V + E) a step. The search in best/ also moves order and stages, and updates only times that a
// step changes; this is its baseline. Tests:
// tests/scheduler/algorithms/baselines/baselines_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

constexpr std::int64_t kLevels = 100;
constexpr double kCooling = 0.93;  // ^100 = 0.0007

/// Returns the mean of operators' least times.
double mean_least_ms(const Graph& graph, const CostModel& costs) {
  double sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    double least = costs.operator_ms(OpId(i), DeviceId(0));
    for (std::size_t d = 1; d < costs.platform().size(); ++d) {
      least = std::min(least, costs.operator_ms(OpId(i), DeviceId(d)));
    }
    sum += least;
  }
  return graph.size() == 0 ? 0 : sum / static_cast<double>(graph.size());
}

void start_randomly(Genes& genes, Random& random) {
  std::vector<Genes::Move> moves;
  for (std::size_t gene = 0; gene < genes.size(); ++gene) {
    const auto choices = genes.choices(gene);
    moves.push_back({gene, choices[random.below(choices.size())]});
  }
  genes.move(moves);
}

/// Returns a random gene and another of its devices.
Genes::Move random_move(const Genes& genes, Random& random) {
  const std::size_t gene = random.below(genes.size());
  const auto choices = genes.choices(gene);
  DeviceId to = choices[random.below(choices.size() - 1)];
  if (to == genes.device(gene)) to = choices.back();
  return {gene, to};
}

}  // namespace

TimedSchedule schedule_annealing(const Graph& graph, const CostModel& costs,
                                 std::int64_t iterations, std::uint64_t seed,
                                 const Deadline& deadline) {
  MappingTimes times(graph, costs, breadth_first_order(graph));
  Genes genes(graph, costs, fastest_mapping(graph, costs, times.order(), "annealing", deadline));
  if (genes.size() == 0) return {times.schedule(genes.mapping()), false};
  Random random(seed, "annealing");
  start_randomly(genes, random);
  Mapping best = genes.mapping();
  double now_ms = times.latency_ms(best), best_ms = now_ms;
  double temperature_ms = mean_least_ms(graph, costs);
  const auto interval =
      std::clamp<std::int64_t>(kWorkPerCheck / static_cast<std::int64_t>(graph.size()), 1, 256);
  for (std::int64_t i = 0, level = 0; i < iterations; ++i) {
    if (deadline.expired_at(i, interval)) return {times.schedule(best), true};
    for (; level < kLevels * i / iterations; ++level) temperature_ms *= kCooling;
    const Genes::Move there = random_move(genes, random);
    const Genes::Move back{there.gene, genes.device(there.gene)};
    if (!genes.move({&there, 1})) continue;
    const double ms = times.latency_ms(genes.mapping());
    if (ms > now_ms + temperature_ms * exponential(random)) {
      genes.move({&back, 1});
      continue;
    }
    now_ms = ms;
    if (ms >= best_ms) continue;
    best_ms = ms;
    best = genes.mapping();
  }
  return {times.schedule(best), false};
}

}  // namespace hios::scheduler
