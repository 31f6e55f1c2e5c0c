#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "engine/job/profile_job.h"

namespace hios::cli {

/// All that hios-profile was told, read and checked on every rank before anything is measured.
struct ProfileCommand {
  ProfileCommand(Common the_common, std::vector<Network> the_networks)
      : common(std::move(the_common)), networks(std::move(the_networks)) {}

  Common common;
  /// The network for each number of inputs at a time, increasing (--inputs, --parts); else one.
  std::vector<Network> networks;
  job::ProfileOptions options;
  double timeout_s = 60;
  std::filesystem::path output;
  bool updates = false;
  Profile known;  ///< with --update: what the output held when measuring began
  // --stages: those that these schedulers ask for, or those of a schedule.
  std::vector<std::string> algorithms;
  std::optional<Schedule> schedule;
};

/// Returns all flags of hios-profile, to be parsed.
Flags profile_program_flags();

/// Throws InputError: whatever is wrong with flags and files.
ProfileCommand read_profile_command(const Flags& flags, const mpi::Transport& transport);

}  // namespace hios::cli
