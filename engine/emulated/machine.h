#pragma once

#include <cstdint>

#include "hios/graph/network.h"
#include "hios/platform/platform.h"

/// A machine that this one lacks: a graph's operators and a platform's routes, whose times pass
/// although nothing is computed or copied.
namespace hios::emulated {

/// The costs of an emulated run, all of them already multiplied by the time scale.
struct Machine {
  Graph graph;
  Platform platform;
  double time_scale = 1;
};

/// Returns a machine whose every time is `time_scale` times as long: operators, reads in place,
/// transfers, latencies, and the time of a byte on buses and routes. REQUIRES: time_scale > 0.
/// Throws InputError where the graph divides inputs or counts several, where the platform has no
/// routes, where the scale makes a time longer than 1e9 ms or a bandwidth none that a platform may
/// have, and as CostModel::from_graph does: an operator has no time, an edge no route.
Machine machine_of(const Graph& graph, const Platform& platform, double time_scale);

/// The number of values of a digest, and the largest value, which fp16 has exactly.
inline constexpr std::int64_t kDigestValues = 16;
inline constexpr unsigned kLargestDigestValue = 2047;
/// The bytes of an operator's parameters in memory: the digest of their name.
inline constexpr Bytes kParameterBytes = 64;

/// Returns a network with the graph's operators, edges and digest, whose tensors are digests: of
/// kDigestValues values each. Its operators' parameters have kParameterBytes.
Network digest_network(const Graph& graph, Bytes element_bytes);

}  // namespace hios::emulated
