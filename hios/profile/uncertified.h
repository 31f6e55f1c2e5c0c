#pragma once

#include <optional>
#include <string>

#include "hios/graph/graph.h"
#include "hios/profile/profile.h"

/// Shards of cut operators that do not give the bits of their whole operators, as a profile lists
/// them ("uncertified" of Configuration::machine).
namespace hios {

bool is_uncertified(const std::string& signature, const Configuration& measured);

/// Returns the first operator of the graph that is such a shard; empty: there is none.
std::optional<OpId> uncertified_shard(const Graph& graph, const Configuration& measured);

/// Throws InputError that names the operator where there is one. `file`: the profile's.
void require_certified(const Graph& graph, const Configuration& measured, const std::string& file);

}  // namespace hios
