#pragma once

#include "hios/base/json/options.h"
#include "scheduler/batches/divisible.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// A schedule of some division of the inputs.
struct DividedResult {
  Division division;
  ScheduleResult result;  ///< of its graph; the bound is of every division
};

/// The shortest schedule that an algorithm makes of even divisions: every operator in one batch of
/// all inputs, or in 2, 3, … equal ones, as many as divide the parts. One that improves schedules
/// (Algorithm::improves), or is exact, goes on from the best of them and copies() with
/// join_batches(), and tries the division that it comes to once more. An exact one
/// (Algorithm::exact) then takes every division there is, where they are few: what it proves of
/// each is proved of all.
///
/// `context.bound` must be of every division (bound_of_every_division()); its time, where it
/// has a limit, is shared among the divisions. The outcome is kOptimal only where every division is
/// proved or the bound is reached. Throws the algorithm's InputError where it takes no division.
DividedResult schedule_divided(const DivisibleProblem& problem, const Algorithm& algorithm,
                               const Options& options, const Context& context);

}  // namespace hios::scheduler
