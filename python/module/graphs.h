#pragma once

#include <nanobind/nanobind.h>

namespace hios::python {

/// Adds Graph: from columns of numbers, which cross the border as lists, from a text of
/// random_dag_text.h, and from files.
void bind_graph(nanobind::module_& module);

}  // namespace hios::python
