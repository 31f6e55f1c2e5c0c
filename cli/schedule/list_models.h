#pragma once

#include "cli/flags.h"

namespace hios::cli {

/// `hios-schedule --list-models`: operators, dependencies, GFLOP, parameters and the largest tensor
/// of every built-in network at its own size; as JSON and CSV where asked.
int list_models(const Common& common);

}  // namespace hios::cli
