#pragma once

#include <nanobind/nanobind.h>

/// The compiled part of the Python package hios: graphs, platforms, schedulers, simulation, rules
/// and bounds, for the folder python/hios/planning, which shows them to people. Arguments are
/// checked there, but for those that could read outside of memory.
namespace hios::python {

/// Lets Error arrive in Python as the exceptions of hios.errors, with the same line.
void translate_errors();

}  // namespace hios::python
