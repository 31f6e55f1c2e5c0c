#pragma once

#include <memory>
#include <span>

#include "hios/base/json/options.h"
#include "hios/graph/network.h"
#include "scheduler/problem.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// A schedule of a network with some operators cut.
struct CutResult {
  Cuts cuts;                               ///< those of `network`
  std::shared_ptr<const Network> network;  ///< null: nothing is cut
  std::shared_ptr<const CostModel> costs;  ///< of its graph
  ScheduleResult result;  ///< for the network's graph, and its bound; without cuts, the whole's
  ScheduleResult whole;   ///< the algorithm's, of the whole network
};

/// Returns the shortest schedule that an algorithm finds over cuts of the network, or the whole's
/// where cuts would shorten it by less than a hundredth. The search starts with no operator cut and
/// with all, undoes the cuts that cost the most work or concern the shortest operators, then
/// changes runs of operators, from half of them to single ones, and keeps what shortens the
/// schedule. It ends after a number of schedules that depends on the network's size alone, or with
/// the deadline; the result is the same each time unless the deadline ends it. The cuts of an
/// algorithm that searches itself (`improves`, `exact`, or by iterations) are found first, with
/// others, the shortest schedule of all `quick` ones. Where these cut nothing, it schedules the
/// whole with all the time that is left; otherwise with three fifths of it, and the cut network
/// with the rest. One that improves schedules leaves a part of that time to move_together()
/// (joint_moves.h), which starts from its schedule, and then goes on from there.
///
/// `context.bound` is the whole's. Throws the algorithm's InputError if it refuses the whole.
/// REQUIRES: some quick one.
CutResult schedule_cut(const CuttableProblem& problem, const Algorithm& algorithm,
                       const Options& options, std::span<const Algorithm* const> quick,
                       const Context& context);

}  // namespace hios::scheduler
