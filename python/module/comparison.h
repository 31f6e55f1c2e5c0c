#pragma once

#include <nanobind/nanobind.h>

namespace hios::python {

/// Adds compare(), which runs built-in schedulers and Python functions on one problem, and Row.
void bind_comparison(nanobind::module_& module);

}  // namespace hios::python
