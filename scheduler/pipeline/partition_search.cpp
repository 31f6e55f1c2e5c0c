#include "scheduler/pipeline/partition_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/random.h"
#include "scheduler/pipeline/partition.h"
#include "scheduler/pipeline/slice_graph.h"
#include "scheduler/structures/exponential.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr SliceGraphOptions kStart{OrderSearch::kGenetic, 20, 10};
constexpr double kHottest = 0.05;     ///< temperature over the period
constexpr double kHalvings = 7;       ///< of the temperature in a round
constexpr double kShareOfMean = 0.2;  ///< of the blocks' mean square in what is made small
constexpr double kBottleneckMoves = 0.5;
constexpr double kDeviceSwaps = 0.01;
constexpr std::int64_t kFirstRound = 64;  ///< moves a vertex
constexpr int kMovesBetweenLooks = 256;   ///< at the clock

/// The dearest block, and a little of all others, so that they make room for it.
double energy_of(const Partition& partition) {
  double dearest = 0, squares = 0;
  for (std::size_t b = 0; b < partition.blocks(); ++b) {
    dearest = std::max(dearest, partition.ms(b));
    squares += partition.ms(b) * partition.ms(b);
  }
  return dearest + kShareOfMean * std::sqrt(squares / static_cast<double>(partition.blocks()));
}

std::size_t bottleneck_of(const Partition& partition) {
  std::size_t dearest = 0;
  for (std::size_t b = 1; b < partition.blocks(); ++b) {
    if (partition.ms(b) > partition.ms(dearest)) dearest = b;
  }
  return dearest;
}

/// About 2^-times, by arithmetic alone, so that it is the same on any machine.
double halved(double times) {
  double half = 1;
  for (; times >= 1; --times) half /= 2;
  return half * (1 - times / 2);
}

class Annealing {
 public:
  Annealing(const PipelineProblem& problem, Random& random) : problem_(problem), random_(random) {}

  /// Leaves the best that it met in `partition`; false where `stop` ended it.
  bool run(Partition& partition, std::int64_t moves, double bound_ms,
           const std::function<bool()>& stop) {
    double period_ms = partition.period_ms();
    Partition best = partition;
    const double hottest = kHottest * period_ms;
    double energy = energy_of(partition), temperature = hottest;
    bool ended = false;
    for (std::int64_t i = 0; i < moves && !ended; ++i) {
      if (i % kMovesBetweenLooks == 0) {
        ended = (stop && stop()) || period_ms <= bound_ms;
        temperature =
            hottest * halved(kHalvings * static_cast<double>(i) / static_cast<double>(moves));
      }
      if (!change(partition, energy, temperature)) continue;
      if (partition.period_ms() >= period_ms) continue;
      period_ms = partition.period_ms();
      best = partition;
    }
    partition = std::move(best);
    return !ended;
  }

 private:
  /// One change that is tried, and kept by Metropolis' rule.
  bool change(Partition& partition, double& energy, double temperature) {
    if (partition.blocks() > 1 && problem_.classes().size() > 1 &&
        random_.uniform() < kDeviceSwaps) {
      const std::size_t a = random_.below(partition.blocks()),
                        b = random_.below(partition.blocks());
      if (!partition.swap_devices(a, b)) return false;
      return keep(partition, energy, temperature) || !partition.swap_devices(a, b);
    }
    const Vertex vertex = chosen(partition);
    const auto [first, last] = partition.window(vertex);
    if (first == last) return false;
    const std::size_t from = partition.block_of(vertex);
    std::size_t to = first + random_.below(last - first);
    if (to >= from) ++to;
    if (!partition.has_room(vertex, to)) return false;
    partition.move(vertex, to);
    if (keep(partition, energy, temperature)) return true;
    partition.move(vertex, from);
    return false;
  }

  bool keep(const Partition& partition, double& energy, double temperature) {
    const double now = energy_of(partition);
    if (now > energy && now - energy > temperature * exponential(random_)) return false;
    energy = now;
    return true;
  }

  Vertex chosen(const Partition& partition) {
    if (random_.uniform() < kBottleneckMoves) {
      const std::vector<Vertex>& members = partition.members(bottleneck_of(partition));
      if (!members.empty()) return members[random_.below(members.size())];
    }
    return static_cast<Vertex>(random_.below(problem_.size()));
  }

  const PipelineProblem& problem_;
  Random& random_;
};

}  // namespace

PartitionSearchResult search_partitions(const Graph& graph, const CostModel& costs,
                                        const PartitionSearchOptions& options, double bound_ms,
                                        std::uint64_t seed,
                                        const std::function<bool()>& out_of_time,
                                        const std::function<void(std::string_view)>& progress) {
  const PipelineProblem problem(graph, costs);
  const Slicer slicer(problem);
  bound_ms = std::max(bound_ms, slicer.simple_bound_ms());
  bool late = false;
  const std::function<bool()> stop = [&] { return late = late || (out_of_time && out_of_time()); };
  SlicedOrder best = slice_orders(problem, kStart, seed, "best", stop);
  Random random(seed, "partitions");
  Annealing annealing(problem, random);
  std::int64_t left = options.moves > 0 ? options.moves : std::numeric_limits<std::int64_t>::max();
  std::int64_t round = kFirstRound * static_cast<std::int64_t>(problem.size());
  const bool may_move = problem.size() > 1 && problem.devices() > 1;
  while (may_move && left > 0 && best.slicing.period_ms > bound_ms && !stop()) {
    Partition partition(problem, best.order, best.slicing);
    annealing.run(partition, std::min(round, left), bound_ms, stop);
    left -= std::min(round, left);
    round *= 2;
    std::vector<Vertex> order = partition.order();
    Slicing slicing = slicer.slice(order, best.slicing.period_ms, stop);
    if (slicing.period_ms < best.slicing.period_ms) best = {std::move(order), std::move(slicing)};
    if (progress) progress("period " + std::to_string(best.slicing.period_ms) + " ms");
  }
  return {{schedule_of(problem, best.order, best.slicing), late},
          best.slicing.period_ms <= bound_ms};
}

}  // namespace hios::scheduler::pipeline
