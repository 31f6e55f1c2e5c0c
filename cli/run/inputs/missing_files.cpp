#include "cli/run/inputs/missing_files.h"

#include <algorithm>
#include <filesystem>

#include "cli/flags/file_flags.h"
#include "cli/flags/model_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/process/commands.h"
#include "cli/remedies.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/profile/profile_gaps.h"

namespace hios::cli {
namespace {

/// Returns the devices that the flags ask for.
std::vector<Device> devices_by_flags(const Flags& flags, const std::vector<std::string>& kinds) {
  std::vector<Device> devices;
  for (const std::string& kind : kinds) {
    Device device;
    device.kind = kind;
    device.name = kind + std::to_string(devices.size());
    device.threads = kind == kGpuKind
                         ? 0
                         : static_cast<int>(flags.optional_integer("threads", 1, 4096).value_or(1));
    device.precision = read_math(flags).value_or(Precision::kFp32);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string schedule_name(const Flags& flags) {
  return std::filesystem::path(flags.text("model")).stem().string() + ".schedule.json";
}

/// Returns the file, or another name where none is given or it is standard input: a command that
/// is pasted has no such stream.
std::string file_or(const std::optional<std::string>& file, const std::string& otherwise) {
  return file && !is_standard_input(*file) ? *file : otherwise;
}

}  // namespace

std::string plan_command(const Flags& flags, const Network& network,
                         const std::vector<Device>& devices, const std::string& file) {
  const Platform platform(devices);
  if (!platform.alike()) return {};
  const Invocation here = invocation();
  const Graph& graph = network.coarse.graph;
  const std::string words = model_words(flags, network.model, graph);
  const std::string profile = file_or(flags.optional_text("profile"), profile_name(flags));
  std::string commands;
  if (is_missing(profile)) {
    commands =
        measurement_command(measurement_of(DeviceId(0), platform, profile, graph), words, here) +
        " && ";
  }
  const Device& first = devices.front();
  std::string plan =
      words + " --profile " + shell_word(profile) + " --devices " + std::to_string(devices.size());
  if (first.kind != kCpuKind) plan += " --kind " + shell_word(first.kind);
  if (first.threads > 1) plan += " --threads " + std::to_string(first.threads);
  if (first.streams > 1) plan += " --streams " + std::to_string(first.streams);
  if (first.precision != Precision::kFp32)
    plan += " --math " + std::string(to_string(first.precision));
  plan += " --algorithm " + std::string(devices.size() > 1 ? "hios" : "sequential") + " --output " +
          shell_word(file_or(file, schedule_name(flags))) + " --force";
  return commands + start_command(here, 1, "hios-schedule", plan);
}

void require_schedule(const Flags& flags, const ReadLimits& limits,
                      const std::vector<std::string>& kinds, std::size_t copies) {
  const auto named = flags.optional_text("schedule");
  if (named ? !is_missing(*named) : kinds.size() == copies) return;
  const std::string file = named.value_or(schedule_name(flags));
  std::string text = printable(file, 200) + ": there is no such schedule";
  if (!named) {
    text = "--schedule FILE is needed for more than one rank (" + std::to_string(kinds.size()) +
           (copies > 1 ? ", for " + std::to_string(copies) + " copies" : "") +
           "): it assigns operators to ranks";
  }
  const std::size_t of_one = std::max<std::size_t>(kinds.size() / copies, 1);
  const std::vector<Device> devices =
      devices_by_flags(flags, {kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(of_one)});
  const Network network = load_network(flags, limits, element_bytes(devices.front().precision));
  const std::string command = plan_command(flags, network, devices, file);
  if (command.empty()) throw InputError(text + "; hios-schedule makes one for a --platform");
  throw InputError(text + "; " + (named ? "" : "add --schedule " + shell_word(file) + ", and ") +
                   "plan it with: " + command);
}

void require_profile(const Flags& flags, const Network& network, const Platform& devices) {
  const auto file = flags.optional_text("profile");
  if (!file || !is_missing(*file)) return;
  const Graph& graph = network.coarse.graph;
  const InputError error(printable(*file, 200) + ": there is no such profile",
                         measurement_of(DeviceId(0), devices, *file, graph));
  throw InputError(error_line(error, model_words(flags, network.model, graph)));
}

}  // namespace hios::cli
