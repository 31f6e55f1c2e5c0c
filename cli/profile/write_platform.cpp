#include "cli/profile/write_platform.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/flags/file_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/process/output.h"
#include "cli/table.h"
#include "engine/job/platform/platform_job.h"
#include "engine/job/profile_job.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/base/log.h"
#include "hios/discovery/machine_platform.h"
#include "hios/platform/platform_json.h"
#include "mpi/session/agreement.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

/// The command, read and checked before anything is measured.
struct PlatformCommand {
  Common common;
  std::filesystem::path output;
  std::optional<std::string> topology;  ///< the file of another machine
  job::PlatformOptions options;
};

void refuse_flags_of_profiles(const Flags& flags) {
  std::set<std::string_view> allowed = {"write-platform",
                                        "topology",
                                        "disk-folder",
                                        "json",
                                        "csv",
                                        "seed",
                                        "force",
                                        "max-input",
                                        "quiet",
                                        "verbose",
                                        "flight-record",
                                        "oversubscribe",
                                        "threads",
                                        "streams",
                                        "backend",
                                        "math",
                                        "timeout",
                                        "transport",
                                        "devices-per-node",
                                        "allow-nondeterministic"};
  const std::vector<std::string> others = flags.written_except(allowed);
  if (others.empty()) return;
  throw InputError("--write-platform measures no network: leave out --" + others.front());
}

/// Refuses the flags of measuring: another machine's description is read, and nothing else.
void refuse_flags_of_measuring(const Flags& flags) {
  for (const char* flag :
       {"disk-folder", "transport", "timeout", "devices-per-node", "allow-nondeterministic"}) {
    if (!flags.written(flag)) continue;
    throw InputError(std::string("--") + flag +
                     " is for measuring, and --topology measures nothing: leave one out");
  }
}

/// Returns the folder of the file that is read: the flag's, or the output's.
std::filesystem::path read_disk_folder(const Flags& flags, const std::filesystem::path& output) {
  std::filesystem::path folder = ".";
  if (const auto given = flags.optional_text("disk-folder")) {
    folder = *given;
    std::error_code unclear;
    if (!std::filesystem::is_directory(folder, unclear))
      throw InputError("--disk-folder " + printable(*given, 200) +
                       ": no such folder; name one that is there");
  } else if (!is_standard_output(output) && output.has_parent_path()) {
    folder = output.parent_path();
  }
  return folder;
}

PlatformCommand read_command(const Flags& flags, std::size_t ranks, bool first) {
  if (!flags.given("write-platform")) {
    throw InputError(std::string(flags.given("topology") ? "--topology" : "--disk-folder") +
                     " is for --write-platform FILE, which is missing");
  }
  refuse_flags_of_profiles(flags);
  PlatformCommand command;
  command.common = read_common(flags, !first);
  command.output = flags.text("write-platform");
  command.topology = flags.optional_text("topology");
  if (command.topology) refuse_flags_of_measuring(flags);
  job::PlatformOptions& options = command.options;
  options.ranks = read_rank_options(flags, ranks);
  options.route = read_route(flags);
  options.threads = static_cast<int>(flags.optional_integer("threads", 1, 4096).value_or(1));
  options.streams = static_cast<int>(flags.integer("streams", 1, 4096));
  options.devices =
      job::devices_of_ranks({.ranks = options.ranks,
                             .threads = options.threads,
                             .precision = read_math(flags).value_or(Precision::kFp32)},
                            ranks);
  options.on_cores = flags.written("backend") &&
                     std::ranges::none_of(options.devices, [](const job::RankDevice& rank) {
                       return rank.backend->kind == kGpuKind;
                     });
  options.disk_folder = read_disk_folder(flags, command.output);
  check_writable(command.output, command.common.existing);
  return command;
}

const std::string& name_of(const Holder& holder, const Platform& platform) {
  const auto* const store = std::get_if<StoreId>(&holder);
  return store ? platform.topology()->store(*store).name
               : platform.device(std::get<DeviceId>(holder)).name;
}

Table table_of(const Platform& platform) {
  Table table({"from", "to", "GB/s", "latency ms", "over"}, 2);
  for (const Route& route : platform.topology()->routes()) {
    std::string over;
    for (const BusId bus : route.over)
      over += (over.empty() ? "" : " ") + platform.topology()->bus(bus).name;
    table.add({name_of(route.from, platform), platform.device(route.to).name,
               fixed(route.gb_per_s, 2), fixed(route.latency_ms, 3), over});
  }
  return table;
}

/// Returns the origin of the platform, which the file keeps as "extra".
Json extra_of(const PlatformCommand& command, const job::FoundPlatform& found) {
  Json extra = {{"machine", command.topology.value_or("this")}};
  if (!found.adapters.empty()) extra["network_adapters"] = found.adapters;
  if (!found.other_gpus.empty()) extra["other_gpus"] = found.other_gpus;
  const std::vector<std::string> assumed = all_assumed(found.described);
  if (!assumed.empty()) extra["assumed"] = assumed;
  for (const job::MeasuredRoute& route : found.measured) {
    extra["measured"].push_back({{"from", route.from},
                                 {"to", route.to},
                                 {"alone_gb_per_s", route.alone_gb_per_s},
                                 {"together_gb_per_s", route.together_gb_per_s}});
  }
  return extra;
}

void write_results(const PlatformCommand& command, const job::FoundPlatform& found) {
  Json json = to_json(found.described.platform);
  json["extra"] = extra_of(command, found);
  write_json(command.output, json, command.common.existing);
  const Table table = table_of(found.described.platform);
  show(table.text(line_width()));
  std::string assumed;
  for (const std::string& text : all_assumed(found.described)) assumed += "  " + text + "\n";
  if (!assumed.empty()) show("neither reported nor measured, but assumed:\n" + assumed);
  if (command.common.csv) write_text(*command.common.csv, table.csv(), command.common.existing);
  if (command.common.json) write_json(*command.common.json, json, command.common.existing);
}

}  // namespace

namespace {

/// The measured file has no name that anybody could give.
bool writes_nothing_that_stays(const std::string&) { return false; }

}  // namespace

po::options_description platform_flags() {
  po::options_description group("Platform", 100, 45);
  group.add_options()(
      "write-platform", output_file("FILE"),
      daily(
          "measure no network, but write the platform of this machine: its GPUs (or ranks), memory "
          "and disks, and the routes between them in GB/s (10^9 bytes a second) and ms"));
  group.add_options()("topology", input_file("FILE.xml"),
                      "with --write-platform: another machine, from an XML of hwloc (lstopo "
                      "machine.xml); nothing is measured");
  group.add_options()(
      "disk-folder", output_folder("FOLDER", writes_nothing_that_stays),
      "with --write-platform: the folder of the file whose reading is measured (the "
      "output's)");
  return group;
}

bool writes_platform(const Flags& flags) {
  return flags.given("write-platform") || flags.given("topology") || flags.given("disk-folder");
}

int write_platform(const Flags& flags, job::Watch& watch) {
  mpi::Transport& transport = watch.transport();
  const bool first = transport.rank() == Rank(0);
  const PlatformCommand command =
      mpi::agreed(transport, [&] { return read_command(flags, transport.size(), first); });
  if (command.topology) {
    const job::FoundPlatform found = mpi::agreed(transport, [&] {
      return job::platform_of_xml(
          command.options, read_text(*command.topology, command.common.limits), *command.topology);
    });
    if (first) write_after_work([&] { write_results(command, found); });
    return 0;
  }
  watch.set_timeout(read_timeout(flags));
  const job::FoundPlatform found = job::find_platform(watch, command.options);
  if (!first) return 0;
  for (const std::string& warning : found.warnings) log::warning(warning);
  write_after_work([&] { write_results(command, found); });
  return 0;
}

}  // namespace hios::cli
