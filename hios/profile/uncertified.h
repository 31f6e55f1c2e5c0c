#pragma once

#include <optional>
#include <set>
#include <string>

#include "hios/base/json/json_io.h"
#include "hios/graph/graph.h"
#include "hios/profile/profile.h"

/// Shards of cut operators whose bits were not compared with those of their whole operators, or are
/// others, as a profile says (Configuration::machine).
namespace hios {

bool is_uncertified(const std::string& signature, const Configuration& measured);

/// Returns the first operator of the graph that is such a shard; empty: there is none.
std::optional<OpId> uncertified_shard(const Graph& graph, const Configuration& measured);

/// Throws InputError that names the operator where there is one. `file`: the profile's.
void require_certified(const Graph& graph, const Configuration& measured, const std::string& file);

/// Throws InputError where shards of a model may have a number of cores on which they were not
/// compared. A profile lists the numbers by model ("certified_cores"); if it lists none, they were
/// compared on all cores of the device. `cores`: all numbers that they may have.
void require_certified_cores(const std::string& model, const std::set<int>& cores,
                             const Configuration& measured, const std::string& file);

/// Throws InputError where the shards were compared by another library, or by other instructions,
/// than those of a backend that shall compute them. `backend`: its facts (Backend::describe).
void require_certified_by(const Json& backend, const Configuration& measured,
                          const std::string& file);

}  // namespace hios
