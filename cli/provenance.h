#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hios/base/json/owned_json.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Date and environment of a job, for reports and profiles.
struct Provenance {
  std::string date;  ///< the job's start, "2024-06-11T09:30:00Z"
  /// The ranks' environment variables on which times depend, by name: the value, or, where ranks
  /// differ, a list by rank with null where it is not set.
  OwnedJson environment = {};
};

/// Returns the same on every rank. Collective.
Provenance gather_provenance(mpi::Transport& transport);

/// Returns true if times depend on an environment variable of this name: those of OpenMP, oneDNN,
/// MPI, CUDA, the C library's memory and the batch job. Variables that a launcher sets per rank do
/// not count.
bool matters_for_times(std::string_view name);

/// Returns the ranks' environments as one, in the form of Provenance::environment.
Json joint_environment(const std::vector<Json>& by_rank);

}  // namespace hios::cli
