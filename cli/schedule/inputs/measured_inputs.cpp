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
#include "hios/platform/cpu_kinds.h"
#include "hios/profile/profile_gaps.h"

namespace hios::cli {
namespace {

/// Returns true if the loads may be the graph's: older profiles do not say whose they are.
bool may_be_of(const MeasuredLoads& loads, const Graph& graph) {
  return loads.network.empty() || loads.network == graph.name();
}

/// Returns the store of --store; without it the disk, if the profile has the graph's loads from it.
StoreKind chosen_store(const Flags& flags, const Profile& profile, const Platform& platform,
                       const Graph& graph) {
  if (const auto name = flags.optional_text("store")) {
    for (const StoreKind kind : {StoreKind::kMemory, StoreKind::kDisk}) {
      if (*name == to_string(kind)) return kind;
    }
    throw InputError("--store takes memory or disk, not " + quote(*name) +
                     did_you_mean(*name, {"memory", "disk"}));
  }
  const Configuration* const first = profile.find(platform, DeviceId(0));
  if (!first) return StoreKind::kMemory;
  const auto disk = first->loads.find(StoreKind::kDisk);
  const bool known = disk != first->loads.end() && may_be_of(disk->second, graph);
  return known ? StoreKind::kDisk : StoreKind::kMemory;
}

/// Returns the first network but the graph whose loads price those of the platform; empty: none.
std::string other_network(const Profile& profile, const Platform& platform, const Graph& graph,
                          StoreKind kind) {
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const MeasuredLoads& loads =
        configuration_of(DeviceId(d), platform, profile, graph).loads.at(kind);
    if (!may_be_of(loads, graph)) return loads.network;
  }
  return {};
}

/// Returns true if loads to all devices can be measured.
bool all_on_cores(const Platform& platform) {
  return std::ranges::all_of(platform.devices(),
                             [](const Device& each) { return computes_on_cores(each.kind); });
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
                     !platform_.default_link() && platform_.contention() == Contention::kNone &&
                     all_on_cores(platform_);
  if (!cold || !plain || sized_) {
    if (!flags.given("store")) return;
    throw InputError(
        "--store names the store that a --profile measured, for --objective cold-start and CPUs "
        "without routes or links: leave it out");
  }
  const StoreKind kind = chosen_store(flags, *profile_, platform_, graph());
  const std::string disk = kind == StoreKind::kDisk ? " --weights FILE" : "";
  const std::string model_flags = model_words_(graph()) + " --objective cold-start" + disk;
  with_remedies(model_flags, [&] {
    platform_ = with_measured_store(graph(), platform_, *profile_, kind);
    if (kind != StoreKind::kMemory) return;
    network_->coarse.graph = with_measured_in_place(graph(), platform_, *profile_);
  });
  const std::string other = other_network(*profile_, platform_, graph(), kind);
  if (other.empty()) return;
  log::warning(profile_->file + ": the loads from " + std::string(to_string(kind)) +
               " are those of " + quote(other) + "; measure those of " + quote(graph().name()) +
               " with: " +
               measurement_command(measurement_of(DeviceId(0), platform_, profile_->file, graph()),
                                   model_flags, invocation()));
}

}  // namespace hios::cli
