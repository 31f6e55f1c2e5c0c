// The order in which errors.h, stop_request.h, graphs.h, platforms.h, plans.h, problem.h and
// comparison.h join hios._core.

#include <nanobind/nanobind.h>

#include "python/module/comparison.h"
#include "python/module/errors.h"
#include "python/module/graphs.h"
#include "python/module/plans.h"
#include "python/module/platforms.h"
#include "python/module/problem.h"
#include "python/module/stop_request.h"

NB_MODULE(_core, module) {
  module.doc() = "The compiled part of hios; its users call hios itself.";
  hios::python::translate_errors();
  hios::python::bind_stop_request(module);
  hios::python::bind_graph(module);
  hios::python::bind_platform(module);
  hios::python::bind_plans(module);
  hios::python::bind_problem(module);
  hios::python::bind_comparison(module);
}
