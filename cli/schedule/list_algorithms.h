#pragma once

#include "cli/flags.h"
#include "scheduler/registry.h"

namespace hios::cli {

/// `--list-algorithms`: what each scheduler does, what it makes use of, and its options; the same
/// with --json and --csv. Returns the exit status.
int list_algorithms(const Common& common, const scheduler::Registry& registry);

}  // namespace hios::cli
