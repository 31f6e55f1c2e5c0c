#pragma once

#include "hios/graph.h"
#include "hios/platform.h"

/// Refusing what does not fit, before the system's memory runs out and it ends a program of its
/// choice.
namespace hios::cli {

/// What the costs of all operators and transfers on all devices take, to a few per cent: a time an
/// operator and device, and where links decide, a time a size of message and pair of devices.
Bytes cost_model_bytes(const Graph& graph, const Platform& platform);

/// Throws InputError where `needed` is more than this machine (or the container's limit) has left;
/// `purpose` says what for, `remedy` what to do. Where the system does not say, nothing is refused.
void require_memory(Bytes needed, const std::string& purpose, const std::string& remedy);

}  // namespace hios::cli
