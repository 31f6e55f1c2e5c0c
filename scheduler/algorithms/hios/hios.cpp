#include "scheduler/algorithms/hios/hios.h"

#include <optional>
#include <utility>

#include "hios/evaluate/simulate.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/stage_list.h"
#include "scheduler/algorithms/hios/stage_passes.h"

// The scheduler `hios`: the shorter of hios-lp's and heft's schedule (where transfers are
// expensive, also that of strips), then rounds. hios-lp puts whole paths on a device and never
// moves them again; heft sees one operator and no consumer. A round mends both:
//  1. Passes from either end of the schedule in turns (stage_passes.cpp). An operator leaves its
//     path where it finishes earlier elsewhere, in a gap too, unless the look-ahead, the transfers
//     to its consumers where the last pass placed them, costs more than that. So paths are cut
//     where it pays.
//  2. The shortest pass's neighbours are paired where slack allows (intra_gpu.cpp). A pair takes
//     less of its device's time, so that the next round has less to place. Pairs stay together.
// The first round begins with one operator a stage: the stages that Alg. 2 formed would hold
// operators where the start had them.
//
// Nothing here is sure to shorten a schedule, so simulate() judges each round, before and after
// pairing, and the shortest counts. Hence the result is never longer than those of hios-lp and
// heft.
//
// Cost: a round is kPassesPerRound passes by two rules, each about as expensive as heft without
// stages, and one sweep of merges: together less than Alg. 1 and 2 (docs/schedulers.md has times).
// Two rounds are where bench/quality's families gain little from more.
//
// Not optimal. Tests: tests/scheduler/algorithms/hios/hios_test.cpp (never longer than hios-lp and
// heft), tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

constexpr int kPassesPerRound = 8;  ///< even: the last one runs forwards

/// Returns the shortest of a round's passes, or nothing once the deadline expires.
std::optional<StageList> shortest_pass(const Graph& graph, const CostModel& costs, StageList list,
                                       const Deadline& deadline) {
  StagePasses passes(graph, costs, std::move(list));
  std::optional<StageList> shortest;
  double least_ms = 0;
  for (int pass = 0; pass < kPassesPerRound; ++pass) {
    if (!passes.turn(deadline)) return std::nullopt;
    if (shortest && passes.length_ms() >= least_ms) continue;
    least_ms = passes.length_ms();
    shortest = passes.list();
  }
  return shortest;
}

}  // namespace

TimedSchedule improve_by_passes(const Graph& graph, const CostModel& costs, TimedSchedule start,
                                std::size_t rounds, const Deadline& deadline) {
  StageList list = one_operator_list(graph, start.schedule, costs);
  double least_ms = simulate(graph, start.schedule, costs).latency_ms;
  TimedSchedule best = std::move(start);
  const auto offer = [&](const StageList& found) {
    Schedule schedule = schedule_of(found, costs.platform());
    const double ms = simulate(graph, schedule, costs).latency_ms;
    if (ms >= least_ms) return;
    least_ms = ms;
    best.schedule = std::move(schedule);
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    auto shortest = shortest_pass(graph, costs, std::move(list), deadline);
    if (!shortest) {
      best.timed_out = true;
      break;
    }
    offer(*shortest);
    list = pair_in_slack(graph, costs, *shortest, deadline);
    offer(list);
  }
  return best;
}

}  // namespace hios::scheduler
