// The measurements of a --profile that are no costs of operators, taken into the platform and the
// graph.
#include <algorithm>
#include <string>

#include "cli/flags/file_flags.h"
#include "cli/process/commands.h"
#include "cli/remedies.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/base/nearest_name.h"
#include "hios/evaluate/cold/measured_stores.h"
#include "hios/profile/profile_gaps.h"

namespace hios::cli {
namespace {

/// Returns the store of --store; without it the disk, if the profile has its loads.
StoreKind chosen_store(const Flags& flags, const Profile& profile, const Platform& platform) {
  if (const auto name = flags.optional_text("store")) {
    for (const StoreKind kind : {StoreKind::kMemory, StoreKind::kDisk}) {
      if (*name == to_string(kind)) return kind;
    }
    throw InputError("--store takes memory or disk, not " + quote(*name) +
                     did_you_mean(*name, {"memory", "disk"}));
  }
  const Configuration* const first = profile.find(platform, DeviceId(0));
  const bool disk = first && first->loads.contains(StoreKind::kDisk);
  return disk ? StoreKind::kDisk : StoreKind::kMemory;
}

}  // namespace

/// Takes the I/O charge of transfers and the fast memory of devices from the profile, where the
/// objective asks for them and the --platform does not have them.
void ScheduleInputs::take_measured(const Flags& flags) {
  if (!profile_ || flags.text("objective") != to_string(Objective::kThroughput)) return;
  platform_ = with_measured(graph(), platform_, *profile_, set_by_platform_);
  std::string lines = measured_devices_text(graph(), platform_, *profile_, set_by_platform_);
  for (std::size_t end = lines.find('\n'); end != std::string::npos; end = lines.find('\n')) {
    log::info(lines.substr(0, end));
    lines.erase(0, end + 1);
  }
  for (std::size_t d = 0; d < platform_.size(); ++d) {
    const Configuration* const measured = profile_->find(platform_, DeviceId(d));
    if (!measured || measured->io_charge ||
        (!set_by_platform_.empty() && set_by_platform_[d].io_charge))
      continue;
    log::info("a --platform may give the time that transfers take from devices; measure it with: " +
              measurement_command(measurement_of(DeviceId(d), platform_, profile_->file, graph()),
                                  model_words_(graph()) + " --objective throughput", invocation()));
    return;
  }
}

/// Takes the store of a cold start, its routes, and the times of operators in place, from the
/// profile, where the platform says nothing of transfers.
void ScheduleInputs::take_measured_store(const Flags& flags) {
  const bool cold = profile_ && flags.text("objective") == to_string(Objective::kColdStart);
  const bool plain = !platform_.topology() && platform_.links().empty() &&
                     !platform_.default_link() && platform_.contention() == Contention::kNone;
  if (!cold || !plain || sized_) {
    if (!flags.given("store")) return;
    throw InputError(
        "--store names the store that a --profile measured, for --objective cold-start and devices "
        "without routes or links: leave it out");
  }
  const StoreKind kind = chosen_store(flags, *profile_, platform_);
  const std::string disk = kind == StoreKind::kDisk ? " --weights FILE" : "";
  with_remedies(model_words_(graph()) + " --objective cold-start" + disk, [&] {
    platform_ = with_measured_store(graph(), platform_, *profile_, kind);
    if (kind != StoreKind::kMemory) return;
    network_->coarse.graph = with_measured_in_place(graph(), platform_, *profile_);
  });
}

}  // namespace hios::cli
