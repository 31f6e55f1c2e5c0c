#pragma once

#include "hios/base/json/options.h"
#include "scheduler/batches/divisible.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// A schedule of some division of the inputs.
struct DividedResult {
  Division division;
  ScheduleResult result;  ///< for the division's graph; the bound is for every division
};

/// Returns the shortest schedule that an algorithm finds for even divisions: every operator in one
/// batch of all inputs, or in 2, 3, … equal ones, as many as divide the parts. So a rule, and a
/// search over devices alone, runs one even division for all operators. One that divides inputs
/// itself (Algorithm::divide) does so, too. An algorithm that
/// improves schedules (Algorithm::improves), or is exact, continues from the best of them and
/// copies() with join_batches(), and is run again on the resulting division. An exact one
/// (Algorithm::exact) is then run on every division, if they are few: a bound proved for each is
/// proved for all.
///
/// `context.bound` must hold for every division (bound_of_every_division()). A time limit is shared
/// among the divisions. The outcome is kOptimal only if every division is proved or the bound is
/// reached. Throws the algorithm's InputError if it accepts no division.
DividedResult schedule_divided(const DivisibleProblem& problem, const Algorithm& algorithm,
                               const Options& options, const Context& context);

}  // namespace hios::scheduler
