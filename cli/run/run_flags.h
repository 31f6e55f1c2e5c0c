#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/run/inputs/references.h"
#include "engine/job/run_job.h"

namespace hios::cli {

/// The command of hios-run, read and checked on every rank before anything runs.
struct RunCommand {
  RunCommand(Common the_common, job::RunInputs the_inputs)
      : common(std::move(the_common)), inputs(std::move(the_inputs)) {}

  Common common;
  job::RunInputs inputs;
  job::RunOptions options;
  std::vector<double> percentiles;
  std::optional<double> max_error;  ///< largest error of the prediction, in percent
  double timeout_s = 60;
  std::optional<std::filesystem::path> trace;
  std::optional<std::filesystem::path> outputs;  ///< a folder
  std::vector<Reference> references;             ///< on rank 0
  bool layers = false;
  bool dry_run = false;
};

/// Returns all flags of hios-run, to be parsed.
Flags run_program_flags();

/// Reads flags and files. Throws InputError where one of them is wrong, or takes more than `memory`
/// (empty: no limit).
RunCommand read_run_command(const Flags& flags, const mpi::Transport& transport,
                            std::optional<Bytes> memory);

}  // namespace hios::cli
