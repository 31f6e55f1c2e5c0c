#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/job/ranks/ranks.h"
#include "hios/graph/network.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios::job {

/// What is run. The same on all ranks.
struct RunInputs {
  Network network;
  ScheduleFile schedule;                ///< rank r is its device r
  std::optional<Profile> profile = {};  ///< predict by these costs, stage by stage
  /// The schedule's file, for messages.
  std::string schedule_name = "the schedule";
  /// Of the schedule's file, for the report; empty: of the schedule as it is here.
  std::string schedule_digest = {};
  /// The model's input as it lies in memory (Model::input_dims says how); empty: from the seed.
  std::vector<float> input = {};
};

/// Reads the files of a run. `model`: see load_model; where `size` says nothing, the model has the
/// size that the schedule was made for. `fusion` must be the schedule's. Throws InputError.
RunInputs read_run_inputs(const std::string& model, const InputSize& size,
                          const std::string& schedule_file,
                          const std::optional<std::string>& profile_file = {},
                          const ReadLimits& limits = {}, const FusionRules& fusion = {});

/// A run of one rank on this device, one operator after the other, without a schedule's file.
RunInputs inputs_in_order(Model model, const Device& device,
                          const std::optional<std::string>& profile_file = {},
                          const ReadLimits& limits = {}, const FusionRules& fusion = {});

/// Reads an input from a .npy file. Throws InputError where it is none for the model: other
/// extents, or other than numbers.
std::vector<float> read_input(const std::string& file, const Model& model,
                              const ReadLimits& limits);

/// See RunInputs::schedule_digest.
std::string schedule_digest(const RunInputs& inputs);

/// The number of ranks whose measurements stand in for those of the platform's devices: where the
/// schedule was planned so, and the profile has nothing nearer. Empty: nothing stands in.
std::optional<std::size_t> standing_in(const RunInputs& inputs, const Platform& platform);

/// What each rank computes with under so many copies of the schedule, whose ranks lie behind each
/// other, by rank. Throws InputError where the schedule is for another number of ranks or breaks a
/// rule (validate()), or where a rank's backend is not for its device's kind or arithmetic.
std::vector<RankDevice> devices_of_ranks(const RunInputs& inputs, const RankOptions& options,
                                         std::size_t ranks, std::size_t copies = 1);

}  // namespace hios::job
