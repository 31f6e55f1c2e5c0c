#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mpi/session/session.h"

/// How this process was started, for the commands in messages (cli/process/commands.h).
namespace hios::cli {

/// A job of the batch system Slurm.
struct SlurmJob {
  std::size_t tasks = 0;  ///< of the job; 0: not known
  std::size_t tasks_per_node = 1;
  /// The arguments of the job script of slurm/ that started this process, quoted for a shell; empty
  /// optional: no such script did.
  std::optional<std::string> script_arguments = {};
  std::string scripts = {};  ///< that script's folder, with its '/'; empty: that of submission
};

struct Invocation {
  std::vector<std::string> words = {};  ///< the command line; empty: not noted
  std::string folder = {};              ///< the programs' folder, with its '/'; empty: in PATH
  mpi::Library mpi = mpi::Library::kNone;
  std::size_t cores = 1;      ///< that this process may run on
  bool refuses_root = false;  ///< mpirun needs a flag, since the user is root
  std::optional<SlurmJob> slurm = {};

  /// Returns a flag's value among the words; empty optional: it is not given.
  std::optional<std::string> value_of(const std::string& flag) const;
};

/// Keeps the words by which this process was started. Called by main, before any thread starts.
void note_invocation(int argc, const char* const* argv);

/// Returns the facts about this process: the words that were kept, the environment, the host.
Invocation invocation();

}  // namespace hios::cli
