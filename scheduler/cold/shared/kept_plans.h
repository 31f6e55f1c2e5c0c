#pragma once

#include <span>
#include <vector>

#include "scheduler/cold/search/cold_plan.h"

namespace hios::scheduler::cold {

/// Returns the plans that each of the bases makes where devices hold parameters before: with its
/// devices, or operators where their parameters are; and loads as it has them, or each over the way
/// that would bring it first: from a store, through another device, or from one that holds it.
std::vector<ColdPlan> kept_plans(const PlanProblem& problem, std::span<const ColdPlan> bases);

/// Returns the schedules of these plans; those without room or route are left out.
std::vector<Schedule> kept_schedules(const PlanProblem& problem, std::span<const ColdPlan> bases);

}  // namespace hios::scheduler::cold
