#include "scheduler/algorithms/variants.h"

#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/longest_path.h"
#include "scheduler/list/device_classes.h"
#include "scheduler/list/placement.h"

// Tests: tests/scheduler/algorithms/variants_test.cpp.

namespace hios::scheduler {
namespace {

constexpr std::size_t kMaxVariants = 4;  ///< each costs as much as the whole platform

std::vector<CostModel> subsets(const Graph& graph, const CostModel& costs) {
  std::vector<CostModel> result;
  for (const auto& devices : fastest_devices(graph, costs, kMaxVariants)) {
    if (!may_hold(graph, costs.platform(), devices)) continue;
    try {
      result.push_back(costs.only(devices));
    } catch (const InputError&) {  // An operator cannot run on them.
    }
  }
  return result;
}

class Shortest {
 public:
  Shortest(const Graph& graph, const CostModel& costs, TimedSchedule first)
      : graph_(graph), costs_(costs), best_(std::move(first)) {}

  void offer(const Variant& variant, const CostModel& by) {
    try {
      TimedSchedule other = variant(by);
      if (!best_ms_) best_ms_ = simulate(graph_, best_.schedule, costs_).latency_ms;
      const double ms = simulate(graph_, other.schedule, costs_).latency_ms;
      if (ms >= *best_ms_) return;
      best_ = std::move(other);
      best_ms_ = ms;
    } catch (const InputError&) {  // No placement on these devices alone.
    }
  }

  TimedSchedule take() { return std::move(best_); }

 private:
  const Graph& graph_;
  const CostModel& costs_;
  TimedSchedule best_;
  std::optional<double> best_ms_;
};

}  // namespace

std::vector<Variant> longest_path_variants(const Graph& graph, bool insertion, bool any_paths,
                                           const Deadline& deadline) {
  std::vector<Variant> variants;
  for (const bool through_touching : {false, true}) {
    for (const bool in_gaps : {false, true}) {
      if (through_touching && !any_paths) continue;
      if (in_gaps && !insertion) continue;
      variants.emplace_back([&graph, &deadline, in_gaps, through_touching](const CostModel& by) {
        return map_longest_paths(graph, by, {in_gaps, through_touching}, deadline);
      });
    }
  }
  return variants;
}

Variant with_stages(const Graph& graph, Variant map, std::size_t window, const Deadline& deadline) {
  return [&graph, &deadline, window, map = std::move(map)](const CostModel& by) {
    TimedSchedule mapped = map(by);
    TimedSchedule merged = parallelize(graph, by, mapped.schedule, window, deadline);
    merged.timed_out = merged.timed_out || mapped.timed_out;
    // Where receivers copy, the times of merges are estimates.
    if (by.charges_receivers() && simulate(graph, mapped.schedule, by).latency_ms <
                                      simulate(graph, merged.schedule, by).latency_ms) {
      merged.schedule = std::move(mapped.schedule);
    }
    return merged;
  };
}

TimedSchedule shortest(const Graph& graph, const CostModel& costs,
                       const std::vector<Variant>& variants, bool unlike,
                       const Deadline& deadline) {
  Shortest best(graph, costs, variants.front()(costs));
  for (std::size_t v = 1; v < variants.size() && !deadline.expired(); ++v)
    best.offer(variants[v], costs);
  if (!unlike || deadline.expired()) return best.take();
  for (const CostModel& some : subsets(graph, costs)) {
    for (const Variant& variant : variants) {
      if (deadline.expired()) return best.take();
      best.offer(variant, some);
    }
  }
  return best.take();
}

}  // namespace hios::scheduler
