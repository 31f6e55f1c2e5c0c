#pragma once

#include <vector>

#include "cli/flags/flags.h"
#include "scheduler/compare/compare.h"
#include "scheduler/registry.h"

namespace hios::cli {

/// Reads --algorithm, --compare and --option; nothing where the program only exports. Needs no
/// graph, so that a mistake shows before one is read or made.
/// Throws InputError: unknown names, options that no algorithm has, and flags that do not fit.
std::vector<scheduler::Request> read_requests(const Flags& flags,
                                              const scheduler::Registry& registry);

}  // namespace hios::cli
