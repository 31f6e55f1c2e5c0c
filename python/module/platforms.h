#pragma once

#include <nanobind/nanobind.h>

namespace hios::python {

/// Adds Platform: equal devices with one kind of link, and platforms of files.
void bind_platform(nanobind::module_& module);

}  // namespace hios::python
