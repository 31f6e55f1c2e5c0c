#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "engine/job/profile_job.h"

namespace hios::cli {

/// The command of hios-profile, read and checked on every rank before anything is measured.
struct ProfileCommand {
  ProfileCommand(Common the_common, std::vector<Network> the_networks)
      : common(std::move(the_common)), networks(std::move(the_networks)) {}

  Common common;
  /// A network for each number of inputs at a time, increasing (--inputs, --parts); else one.
  std::vector<Network> networks;
  job::ProfileOptions options;
  double timeout_s = 60;
  std::filesystem::path output;
  bool updates = false;
  Profile known;  ///< with --update: the content of the output file when measuring began
  // --stages: the stages that these schedulers ask for, or those of a schedule.
  std::vector<std::string> algorithms;
  std::optional<Schedule> schedule;
};

/// Returns all flags of hios-profile, to be parsed.
Flags profile_program_flags();

/// Reads flags and files. Throws InputError where one of them is wrong, or takes more than `memory`
/// (empty: no limit).
ProfileCommand read_profile_command(const Flags& flags, const mpi::Transport& transport,
                                    std::optional<Bytes> memory);

}  // namespace hios::cli
