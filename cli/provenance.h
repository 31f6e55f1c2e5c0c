#pragma once

#include <string>
#include <string_view>

#include "hios/base/json/json_io.h"
#include "mpi/transport.h"

namespace hios::cli {

/// When and under what a job ran, for reports and profiles.
struct Provenance {
  std::string date;  ///< of the job's start, "2024-06-11T09:30:00Z"
  /// The environment variables of the ranks that times depend on, by name: the value, or, where
  /// ranks differ, a list by rank with null where it is not set.
  Json environment = Json::object();
};

/// On every rank, the same on all. Collective.
Provenance gather_provenance(mpi::Transport& transport);

/// Whether times depend on an environment variable of this name: OpenMP, oneDNN, MPI, CUDA, the C
/// library's memory, and which batch job it is. Not what a launcher tells each of its ranks anew.
bool matters_for_times(std::string_view name);

/// What the ranks' environments say of each variable, as Provenance has it.
Json joint_environment(const std::vector<Json>& by_rank);

}  // namespace hios::cli
