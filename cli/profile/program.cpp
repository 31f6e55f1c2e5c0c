#include "cli/profile/program.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <unistd.h>

#include "cli/device_list.h"
#include "cli/flags/describe.h"
#include "cli/flags/model_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/process/output.h"
#include "cli/process/stop_request.h"
#include "cli/process/version.h"
#include "cli/profile/profile_flags.h"
#include "cli/profile/wanted_stages.h"
#include "cli/profile/write_platform.h"
#include "cli/provenance.h"
#include "cli/rank_program.h"
#include "cli/remedies.h"
#include "cli/table.h"
#include "engine/host/available_memory.h"
#include "engine/job/profile_job.h"
#include "engine/job/ranks/host_memory.h"
#include "hios/base/files/streams.h"
#include "hios/base/log.h"
#include "hios/evaluate/cold/measured_stores.h"
#include "hios/evaluate/measured_devices.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/platform/platform.h"
#include "hios/profile/growth.h"
#include "hios/profile/profile_json.h"
#include "hios/profile/settling.h"
#include "mpi/session/agreement.h"
#include "scheduler/registry.h"

namespace hios::cli {
namespace {

/// Returns a function that finds the stages that a profile lacks; null where the flags ask for
/// none.
job::AskStages asker(const ProfileCommand& command, const Network& network) {
  const bool of_schedule = command.schedule && &network == &command.networks.back();
  if (command.algorithms.empty() && !of_schedule) return {};
  return [&](const Platform& platform, const Profile& profile, double time_limit_s) {
    const Graph& graph = network.coarse.graph;
    return command.schedule ? wanted_stages(graph, platform, profile, *command.schedule)
                            : wanted_stages(graph, platform, profile, scheduler::built_in(),
                                            command.algorithms, time_limit_s);
  };
}

/// Returns "2 ranks x 1 threads", or, where they differ, "2 ranks (cuda, cpu)".
std::string ranks_text(const std::vector<job::RankDevice>& devices) {
  const std::string count = std::to_string(devices.size()) + " ranks";
  std::string names;
  bool alike = true;
  for (const job::RankDevice& device : devices) {
    alike = alike && device.backend == devices.front().backend;
    names += (names.empty() ? "" : ", ") + std::string(device.backend->name);
  }
  const bool on_cores = devices.front().backend->kind != kGpuKind;
  return alike ? count + " x " + std::to_string(on_cores ? devices.front().cores : 0) + " threads"
               : count + " (" + names + ")";
}

void print_setup(const Network& network, const job::ProfileSetup& setup) {
  log::info("measuring " + network.description() + " on " + ranks_text(setup.devices) + ", " +
            setup.transfer_path);
  if (!setup.routes.empty()) log::info("tensors travel by\n" + setup.routes);
}

/// Prints the results that were measured for many inferences in flight, or their absence.
void show_throughput(const Network& network, const job::ProfileJob& job) {
  for (const Configuration* const each : job.configurations()) {
    const std::string whose = job.configurations().size() > 1 ? each->kind + ": " : "";
    show(whose + charge_text(*each) + "\n");
    const std::string warmth = warmth_text(network.coarse.graph, *each);
    if (!warmth.empty()) show(whose + warmth + "\n");
  }
}

/// Prints what was measured for cold starts.
void show_cold_start(const job::ProfileJob& job) {
  for (const Configuration* const each : job.configurations()) {
    const std::string whose = job.configurations().size() > 1 ? each->kind + ":\n" : "";
    show(whose + loads_text(*each));
  }
}

void print_summary(const ProfileCommand& command, const Network& network,
                   const job::ProfileJob& job) {
  Table table({"configuration", "operators", "their sum ms", "stages", "transfers", "seconds"});
  for (const Configuration* const each : job.configurations()) {
    double sum_ms = 0;
    for (const Operator& op : network.coarse.graph.operators())
      sum_ms += each->operators.at(op.signature).ms;
    const std::string& words = cap_of_kind(each->kind) ? each->kind : each->backend;
    table.add({std::to_string(each->ranks) + " x " + words + " x " + std::to_string(each->threads) +
                   " threads",
               std::to_string(each->operators.size()), fixed(sum_ms, 3),
               std::to_string(each->stages.size()), std::to_string(each->transfers.size()),
               fixed(each->seconds, 1)});
  }
  show(table.text(line_width()));
  if (command.options.throughput) show_throughput(network, job);
  if (command.options.cold_start) show_cold_start(job);
  const std::string disturbed = disturbed_text(job.configurations());
  if (!disturbed.empty()) show(disturbed + "\n");
  const Common& common = command.common;
  if (common.csv) write_text(*common.csv, table.csv(), common.existing);
  if (common.json) write_json(*common.json, to_json(job.profile()), common.existing);
}

/// Returns true if all operators were measured, by few sweeps or by many; they come first.
bool operators_known(const Network& network, const job::ProfileJob& job) {
  for (const Configuration* const each : job.configurations()) {
    for (const Operator& op : network.coarse.graph.operators()) {
      if (!each->operators.contains(op.signature)) return false;
    }
  }
  return true;
}

/// Writes the profile. With --update others may have updated the file since it was read: their
/// measurements stay.
void write_measured(const ProfileCommand& command, const Profile& measured) {
  if (!command.updates) {
    write_json(command.output, to_json(measured), command.common.existing);
    return;
  }
  update_json(command.output, command.common.limits, [&](const Json* now) {
    if (!now) return to_json(measured);
    Profile all = profile_from_json(JsonView(*now, command.output));
    merge_changes(command.known, measured, all);
    return to_json(all);
  });
}

/// Writes the profile, or a file next to it where its name was taken during hours of measuring.
void write_output(const ProfileCommand& command, const Profile& measured) {
  try {
    write_measured(command, measured);
  } catch (const Error& error) {
    const bool to_stream = is_standard_output(command.output);
    std::filesystem::path other_file = to_stream ? "profile.json" : command.output;
    other_file += ".measured-" + std::to_string(getpid());
    try {
      write_json(other_file, to_json(measured), Existing::kRefuse);
    } catch (const Error&) {
      throw RunError(error.what(), error.need());
    }
    throw RunError(std::string(error.what()) + "; the measurements are in " + other_file.string());
  }
}

void write_profile(const ProfileCommand& command, const Network& network,
                   const job::ProfileJob& job) {
  for (const Configuration* const each : job.configurations()) {
    const std::string unsettled = unsettled_text(*each);
    if (!unsettled.empty())
      warn_of_unsettled(command.output.string() + ", " + each->backend + ": " + unsettled);
  }
  write_after_work([&] {
    write_output(command, job.profile());
    print_summary(command, network, job);
  });
}

/// The last network whose operators were all measured, and its job; null: there is none.
struct Measured {
  const Network* network = nullptr;
  std::unique_ptr<job::ProfileJob> job;
};

/// Measures each network in turn, from the fewest inputs at a time to all; a network starts with
/// the measurements of the ones before. `stop` is made once there are results to keep.
Measured measure_all(const ProfileCommand& command, job::Watch& watch,
                     mpi::Transport& plain_transport, std::optional<StopRequest>& stop) {
  Measured done;
  mpi::Transport& transport = watch.transport();
  job::ProfileOptions options = command.options;
  options.stages_limit_s /= static_cast<double>(command.networks.size());
  for (const Network& network : command.networks) {
    auto job = std::make_unique<job::ProfileJob>(
        watch, network, done.job ? done.job->profile() : command.known, options);
    print_setup(network, job->setup());
    if (!stop && transport.rank() == Rank(0)) warn_of(job->setup().warnings);
    // Until here a signal ends the program.
    if (!stop) stop.emplace(grace_of(plain_transport, "measuring"));
    const job::Ended ended = job->measure(asker(command, network));
    if (ended == job::Ended::kOutOfTime) {
      log::warning(
          "the time for stages is up: schedulers will estimate the others (raise --time-limit and "
          "--update)");
    }
    if (operators_known(network, *job)) done = {&network, std::move(job)};
    if (ended == job::Ended::kStopped) break;
  }
  return done;
}

int profile(mpi::Transport& plain_transport, flight::Recorder& recorder, int argc, char** argv) {
  job::Watch watch(plain_transport,
                   early_timeout_s(argc, argv).value_or(job::Watch::kDefaultTimeoutSeconds),
                   &recorder);
  watch.name_timeout("--timeout");
  mpi::Transport& transport = watch.transport();
  Flags flags = profile_program_flags();
  watch.phase("reading what to do");
  watch.meet();
  if (!parse_on_all_ranks(flags, argc, argv, transport)) return 0;
  share_standard_input(flags, watch);
  if (flags.given("list-devices")) return list_devices(flags, transport);
  if (writes_platform(flags)) return write_platform(flags, watch);
  const auto memory = job::share_of_memory(transport, read_available_memory());
  const Provenance provenance = gather_provenance(transport);
  ProfileCommand command =
      mpi::agreed(transport, [&] { return read_profile_command(flags, transport, memory); });
  command.options.provenance = Json{{"hios", version()},
                                    {"commit", commit()},
                                    {"build", build_text()},
                                    {"date", provenance.date},
                                    {"environment", provenance.environment}};
  for (const Network& network : command.networks) {  // of --cut auto, all that can be cut
    if (network.cuts.empty()) continue;
    (*command.options.provenance)["cuts"][network.model.name()] = cut_list_to_json(network.cuts);
  }
  watch.set_timeout(command.timeout_s);
  std::optional<StopRequest> stop;  // until the profile is written
  const Measured measured = measure_all(command, watch, plain_transport, stop);
  const int signal = signal_of_any(transport);
  const bool known = measured.job != nullptr;
  if (known && transport.rank() == Rank(0))
    write_profile(command, *measured.network, *measured.job);
  if (signal == 0) return 0;
  log::info("ended by " + signal_name(signal) +
            (known ? ": the measurements so far were kept (--update measures the others)"
                   : " before anything was measured: nothing was written"));
  return exit_status_of_signal(signal);
}

}  // namespace

int profile_program(int argc, char** argv) {
  if (asks_for_description(argc, argv)) return describe(profile_program_flags());
  return rank_program(argc, argv, profile);
}

}  // namespace hios::cli
