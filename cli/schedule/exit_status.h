#pragma once

#include <functional>

namespace hios::cli {

/// What `program` returns, or the exit status of what it threw, after one line on standard error
/// that says so. For a program of one process.
int exit_status_of(const std::function<int()>& program);

}  // namespace hios::cli
