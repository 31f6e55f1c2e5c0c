#pragma once

#include <functional>

namespace hios::cli {

/// Runs a program of one process; returns its result, or the exit status of its exception after a
/// line on standard error.
int exit_status_of(const std::function<int()>& program);

}  // namespace hios::cli
