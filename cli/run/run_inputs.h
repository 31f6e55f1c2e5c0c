#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/device_setup.h"
#include "cli/flags.h"
#include "cli/network.h"
#include "cli/rank_setup.h"
#include "engine/job/verify.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

enum class Verify { kNo, kOutputs, kOperators };

/// All that hios-run was told, read and checked on every rank before anything runs.
struct RunJob {
  RunJob(Common the_common, Network the_network)
      : common(std::move(the_common)), network(std::move(the_network)) {}

  Common common;
  Network network;
  ScheduleFile schedule;
  std::string schedule_digest;
  Platform platform;
  std::optional<Profile> profile;
  Protocol protocol;
  std::vector<double> percentiles;
  std::vector<std::string> backends;  ///< by rank
  std::vector<int> threads;           ///< by rank
  std::vector<DeviceIdentity> gpus;   ///< by rank, known once all have their backends; empty: none
  DeviceOptions devices;
  Verify verify = Verify::kNo;
  Precision precision = Precision::kFp32;  ///< the roughest of all devices'
  Tolerance tolerance;
  std::optional<double> max_error;  ///< of the prediction, in percent
  double timeout_s = 60;
  std::optional<std::filesystem::path> trace;
  bool dry_run = false;
};

boost::program_options::options_description run_flags();

/// Throws InputError: whatever is wrong with flags, files, schedule, ranks or backends.
RunJob read_run_job(const Flags& flags, const mpi::Transport& transport);

/// What the profile says about this schedule; empty without a profile.
std::optional<Timeline> predicted_timeline(const RunJob& job, const CostModel* costs);

}  // namespace hios::cli
