#pragma once

#include "scheduler/registry.h"

namespace hios::cli {

/// All of hios-schedule, with the schedulers of `registry`: what main() does. A program with a
/// scheduler of its own adds it to a registry and calls this, and has it in --list-algorithms,
/// --algorithm, --compare and --option. Returns the exit status, after one line on standard error
/// where something is wrong; throws nothing. One call a process: it sets the log level and, while
/// schedulers run, what Ctrl-C does.
int schedule_program(int argc, const char* const* argv, const scheduler::Registry& registry);

}  // namespace hios::cli
