#include "python/module/own_algorithm.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "hios/base/error.h"
#include "python/module/plans.h"

namespace hios::python {
namespace {

namespace nb = nanobind;

Schedule asked(const nb::object& function, double seconds_left, const SharedProblem& problem) {
  Stages stages;
  {
    const nb::gil_scoped_acquire lock;
    const nb::object answer = function(seconds_left);
    if (nb::isinstance<Schedule>(answer)) return nb::cast<Schedule>(answer);
    if (nb::isinstance<nb::str>(answer)) throw InputError(nb::cast<std::string>(answer));
    stages = nb::cast<Stages>(answer);
  }
  return schedule_of(stages, *problem.graph);
}

}  // namespace

scheduler::Algorithm own_algorithm(std::string name, const nb::object& function,
                                   const SharedProblem& problem) {
  scheduler::Algorithm algorithm{
      .name = name, .description = "a Python function", .options = {}, .run = {}};
  algorithm.run = [name = std::move(name), &function, &problem](const scheduler::Problem& asked_for,
                                                                const Options& options,
                                                                const scheduler::Context& context) {
    Schedule schedule;
    try {
      schedule = asked(function, context.deadline.seconds_left(), problem);
      require_valid(schedule, problem);
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
    return scheduler::complete(std::move(schedule), Outcome::kFeasible, asked_for, options,
                               context);
  };
  return algorithm;
}

}  // namespace hios::python
