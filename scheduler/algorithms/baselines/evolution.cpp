#include "scheduler/algorithms/baselines/evolution.h"

#include <algorithm>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/deadline.h"
#include "scheduler/list/mapping.h"

// O(V + E) a child; one in three equals its parent and costs O(V). Tests:
// tests/scheduler/algorithms/baselines/baselines_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// Collects the genes that mutate, each with another of its devices.
void mutate(const Genes& genes, Random& random, std::vector<Genes::Move>& moves) {
  moves.clear();
  for (std::size_t gene = 0; gene < genes.size(); ++gene) {
    if (random.below(genes.size()) != 0) continue;
    const auto choices = genes.choices(gene);
    DeviceId to = choices[random.below(choices.size() - 1)];
    if (to == genes.device(gene)) to = choices.back();
    moves.push_back({gene, to});
  }
}

}  // namespace

TimedSchedule schedule_evolution(const Graph& graph, const CostModel& costs,
                                 std::int64_t iterations, std::uint64_t seed,
                                 const Deadline& deadline) {
  MappingTimes times(graph, costs, breadth_first_order(graph));
  Genes genes(graph, costs, fastest_mapping(graph, costs, times.order(), "ea", deadline));
  if (genes.size() == 0) return {times.schedule(genes.mapping()), false};
  Random random(seed, "ea");
  double now_ms = times.latency_ms(genes.mapping());
  const auto interval =
      std::clamp<std::int64_t>(kWorkPerCheck / static_cast<std::int64_t>(graph.size()), 1, 256);
  std::vector<Genes::Move> there, back;
  for (std::int64_t i = 0; i < iterations; ++i) {
    if (deadline.expired_at(i, interval)) return {times.schedule(genes.mapping()), true};
    mutate(genes, random, there);
    if (there.empty()) continue;
    back.clear();
    for (const Genes::Move& move : there) back.push_back({move.gene, genes.device(move.gene)});
    if (!genes.move(there)) continue;
    const double ms = times.latency_ms(genes.mapping());
    if (ms > now_ms) {
      genes.move(back);
    } else {
      now_ms = ms;
    }
  }
  return {times.schedule(genes.mapping()), false};
}

}  // namespace hios::scheduler
