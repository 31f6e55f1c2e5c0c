#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "python/module/problem.h"
#include "scheduler/scheduler.h"

namespace hios::python {

/// Returns the scheduler of this name that asks a Python function: given the seconds that are left,
/// it returns the stages of all devices (Stages), or a text, the reason why it has none. Both are
/// judged as any other scheduler is: a schedule that breaks a rule is refused with the rule. The
/// function and the problem outlive the scheduler, whose calls take Python's lock for the function
/// alone.
scheduler::Algorithm own_algorithm(std::string name, const nanobind::object& function,
                                   const SharedProblem& problem);

}  // namespace hios::python
