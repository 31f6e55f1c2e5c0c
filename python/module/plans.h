#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "hios/schedule/schedule.h"
#include "python/module/problem.h"

namespace hios::python {

/// The stages of a schedule as Python has them: by device, stage, group and position, an operator's
/// index.
using Stages = std::vector<std::vector<std::vector<std::vector<std::uint32_t>>>>;

/// Throws InputError where an index is that of no operator.
Schedule schedule_of(const Stages& stages, const Graph& graph);

/// Throws InputError with the first rule that the schedule breaks.
void require_valid(const Schedule& schedule, const SharedProblem& problem);

/// Adds Plan (a schedule) and Timeline.
void bind_plans(nanobind::module_& module);

}  // namespace hios::python
