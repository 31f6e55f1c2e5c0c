#pragma once

#include "cli/flags/flags.h"
#include "hios/graph/network.h"
#include "scheduler/registry.h"

/// Lists for flags that plan nothing. The functions return the exit status.
namespace hios::cli {

/// Lists for --list-algorithms each scheduler's description, the devices and streams that it uses,
/// and its options; also as --json and --csv.
int list_algorithms(const Common& common, const scheduler::Registry& registry);

/// Lists for --list-models operators, dependencies, GFLOP, parameters and the largest tensor of
/// every built-in network at its own size; also as --json and --csv.
int list_models(const Common& common);

/// Lists for --list-operators the operators of a network by name, with their layers (the nodes of
/// an ONNX file), output, work, weights and, in JSON and CSV, the signature that is their key in
/// profiles. The JSON has the model's input and outputs, too.
int list_operators(const Common& common, const Network& network);

}  // namespace hios::cli
