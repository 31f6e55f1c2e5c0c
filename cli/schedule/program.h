#pragma once

#include "scheduler/registry.h"

namespace hios::cli {

/// Runs hios-schedule with the schedulers of `registry`; its main(). A program with a scheduler of
/// its own adds it to a registry and calls this; the scheduler is then in --list-algorithms,
/// --algorithm, --compare and --option. Returns the exit status, after a line on standard error for
/// an error; throws nothing. One call per process, since it sets the log level and, while
/// schedulers run, the action of Ctrl-C.
int schedule_program(int argc, const char* const* argv, const scheduler::Registry& registry);

}  // namespace hios::cli
