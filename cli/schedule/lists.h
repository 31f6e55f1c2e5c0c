#pragma once

#include "cli/flags/flags.h"
#include "hios/graph/network.h"
#include "scheduler/registry.h"

/// What one can choose from: answers to flags that plan nothing. They return the exit status.
namespace hios::cli {

/// `--list-algorithms`: what each scheduler does, what it makes use of, and its options; the same
/// with --json and --csv.
int list_algorithms(const Common& common, const scheduler::Registry& registry);

/// `--list-models`: operators, dependencies, GFLOP, parameters and the largest tensor
/// of every built-in network at its own size; as JSON and CSV where asked.
int list_models(const Common& common);

/// `--list-operators`: the operators of a network by name, with their layers (the nodes of an ONNX
/// file), output, work, weights and, in JSON and CSV, the signature that profiles know them by.
int list_operators(const Common& common, const Network& network);

}  // namespace hios::cli
