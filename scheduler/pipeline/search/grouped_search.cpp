#include "scheduler/pipeline/search/grouped_search.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/validate.h"
#include "scheduler/algorithms/baselines/ios.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/longest_path.h"
#include "scheduler/pipeline/search/block_stages.h"

namespace hios::scheduler::pipeline {
namespace {

/// Shares of the time that remain after a search and after its blocks were grouped.
struct Left {
  double of_search, of_groups;
};
constexpr Left kFirst{0.55, 0.4}, kOthers[] = {{0.22, 0.12}, {0.05, 0}};
constexpr double kLeftOfLatency = 0.38;       ///< remaining after the schedulers of latency
constexpr std::size_t kMaxForLatency = 2000;  ///< operators of graphs for the schedulers of latency
constexpr std::size_t kGroupWindow = 4;       ///< w of Alg. 2, hios-lp's default
constexpr std::int64_t kMaxEndings = 1'000'000;  ///< for 32 operators

class GroupedSearch {
 public:
  GroupedSearch(const Graph& graph, const CostModel& costs, const Deadline& deadline)
      : graph_(graph), costs_(costs), deadline_(deadline), seconds_(deadline.seconds_left()) {}

  void run(const PartitionSearchOptions& options, double bound_ms, std::uint64_t seed,
           const std::function<void(std::string_view)>& progress) {
    const PartitionSearchOptions third{(options.moves + 2) / 3};
    const auto search = [&](std::span<const double> shares, double left) {
      const PipelineProblem problem(graph_, costs_, shares);
      const Deadline part = leaving(left);
      const SlicedOrder found = search_orders(problem, third, bound_ms, seed, part, progress);
      timed_out_ = timed_out_ || part.expired();
      return schedule_of(problem, found.order, found.slicing);
    };
    const auto group = [&](const Schedule& schedule, double left) {
      const Deadline part = leaving(left);
      Schedule grouped = with_groups(schedule, costs_, part);
      timed_out_ = timed_out_ || part.expired();
      return grouped;
    };
    const Schedule blocks = search({}, kFirst.of_search);
    take(blocks);
    Schedule grouped = group(blocks, kFirst.of_groups);
    take(grouped);
    take_from_latency(leaving(kLeftOfLatency));
    for (const Left& left : kOthers) {
      if (period_ms_ <= bound_ms || deadline_.expired()) return;
      const Schedule again = search(shares_in_stages(grouped, costs_), left.of_search);
      grouped = group(again, left.of_groups);
      take(again);
      take(grouped);
    }
  }

  double period_ms() const { return period_ms_; }
  TimedSchedule found() { return {std::move(best_), timed_out_}; }

 private:
  /// Returns the deadline that leaves this share of all the time.
  Deadline leaving(double share) const {
    if (!deadline_.has_time_limit()) return deadline_;
    return deadline_.within(deadline_.seconds_left() - share * seconds_);
  }

  /// Takes the schedule if it is shorter.
  void take(Schedule schedule) {
    const double period_ms = period_of(graph_, schedule, costs_).ms();
    if (period_ms >= period_ms_) return;
    period_ms_ = period_ms;
    best_ = std::move(schedule);
  }

  void take_from_latency(const Deadline& deadline) {
    if (graph_.size() > kMaxForLatency) return;
    const auto take_valid = [this](Schedule schedule) {
      if (validate(graph_, costs_.platform(), schedule, Objective::kThroughput).empty()) {
        take(std::move(schedule));
      }
    };
    try {
      const Schedule paths = map_longest_paths(graph_, costs_, {}, deadline).schedule;
      if (cycle_of_blocks(graph_, paths).empty()) {
        take_valid(parallelize(graph_, costs_, paths, kGroupWindow, deadline).schedule);
        take_valid(with_groups(paths, costs_, deadline));
      }
    } catch (const InputError&) {
      // It may find no device for operators that blocks can hold.
    }
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      bool able = true;
      for (std::size_t v = 0; v < graph_.size(); ++v) {
        able = able && costs_.can_run(OpId(v), DeviceId(d));
      }
      if (!able || deadline.expired()) continue;
      Schedule alone{std::vector<std::vector<Stage>>(costs_.platform().size())};
      alone.devices[d] =
          schedule_endings(graph_, costs_, DeviceId(d), {.max_endings = kMaxEndings}, deadline)
              .stages;
      take_valid(std::move(alone));
      break;  // one is enough: a single block is seldom the shortest
    }
    timed_out_ = timed_out_ || deadline.expired();
  }

  const Graph& graph_;
  const CostModel& costs_;
  const Deadline& deadline_;
  double seconds_;          // left at the begin
  bool timed_out_ = false;  // some part of the search did
  Schedule best_;
  double period_ms_ = std::numeric_limits<double>::infinity();
};

}  // namespace

PartitionSearchResult search_grouped(const Graph& graph, const CostModel& costs,
                                     const PartitionSearchOptions& options, double bound_ms,
                                     std::uint64_t seed, const Deadline& deadline,
                                     const std::function<void(std::string_view)>& progress) {
  if (!groups_may_pay(costs)) {
    return search_partitions(graph, costs, options, bound_ms, seed, deadline, progress);
  }
  GroupedSearch search(graph, costs, deadline);
  search.run(options, bound_ms, seed, progress);
  const bool optimal = search.period_ms() <= bound_ms;
  return {search.found(), optimal};
}

}  // namespace hios::scheduler::pipeline
