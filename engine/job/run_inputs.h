#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/emulated/machine.h"
#include "engine/job/ranks/ranks.h"
#include "hios/graph/network.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios::job {

/// The inputs of a run. The same on all ranks.
struct RunInputs {
  Network network;
  ScheduleFile schedule;                ///< rank r is its device r
  std::optional<Profile> profile = {};  ///< the costs of the prediction
  /// The schedule's file, for messages.
  std::string schedule_name = "the schedule";
  /// The size by which the model was read.
  InputSize size = {};
  /// The digest of the schedule's file, for the report; empty: it is computed from `schedule`.
  std::string schedule_digest = {};
  /// The machine to emulate, for a digest_network(); empty: this one computes.
  std::optional<emulated::Machine> machine = {};
  /// The model's input, which may hold several (hios/model/named_inputs.h), in the order of memory;
  /// empty: from the seed.
  std::vector<float> input = {};
};

/// Reads a profile; returns nothing where no file is named. Throws InputError.
std::optional<Profile> read_profile(const std::optional<std::string>& file,
                                    const ReadLimits& limits);

/// Reads the files of a run. `model`: see load_model. Where `size` is empty, the model has the size
/// that the schedule was made for. `fusion` must be the schedule's. Throws InputError.
RunInputs read_run_inputs(const std::string& model, const InputSize& size,
                          const std::string& schedule_file,
                          const std::optional<std::string>& profile_file = {},
                          const ReadLimits& limits = {}, const FusionRules& fusion = {});

/// Makes the inputs of a run on one rank with this device, one operator after the other, without a
/// schedule's file.
RunInputs inputs_in_order(Model model, const Device& device,
                          const std::optional<std::string>& profile_file = {},
                          const ReadLimits& limits = {}, const FusionRules& fusion = {});

/// Returns a schedule by which one device runs all operators of a network in order.
ScheduleFile schedule_in_order(const Network& network, const Device& device, Merge merge);

/// Returns RunInputs::schedule_digest, or computes it.
std::string schedule_digest(const RunInputs& inputs);

/// Returns the number of ranks whose measurements are used for the platform's devices, where the
/// schedule was planned so and the profile has none for that number of ranks; else empty.
std::optional<std::size_t> extrapolated_from(const RunInputs& inputs, const Platform& platform);

/// Returns the device of each rank, by rank, for so many copies of the schedule, whose ranks are
/// consecutive. Throws InputError where the schedule is for another number of ranks or breaks a
/// rule (validate()), or where a rank's backend is not for its device's kind or arithmetic.
std::vector<RankDevice> devices_of_ranks(const RunInputs& inputs, const RankOptions& options,
                                         std::size_t ranks, std::size_t copies = 1);

}  // namespace hios::job
