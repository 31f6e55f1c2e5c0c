#include "engine/job/run_inputs.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/backends.h"
#include "engine/cold/planned_loads.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/sized_networks.h"
#include "hios/profile/extrapolate.h"
#include "hios/profile/profile_json.h"
#include "hios/schedule/schedule_json.h"

namespace hios::job {

std::optional<Profile> read_profile(const std::optional<std::string>& file,
                                    const ReadLimits& limits) {
  if (!file) return {};
  const Json costs = read_json(*file, limits);
  Profile profile = profile_from_json(JsonView(costs, *file));
  profile.file = *file;
  return profile;
}

namespace {

/// Returns the given size, or where that is empty, the one that a schedule was made for (batch 0:
/// none).
InputSize size_for_schedule(const InputSize& size, std::int64_t batch, std::int64_t height,
                            std::int64_t width) {
  InputSize wanted = size;
  if (size.batch || size.height || size.width || batch <= 0) return wanted;
  wanted.batch = batch;
  // 1x1 is the size of inputs that are no images, too, and an ONNX file of such an input has none.
  if (height != 1 || width != 1) {
    wanted.height = height;
    wanted.width = width;
  }
  return wanted;
}

/// The size of the model that a schedule was made for, and the model where it was read to know it.
struct SizedModel {
  InputSize size;
  std::optional<Model> model = {};
};

/// Returns the size of a run: where the user gives none, the schedule's if the model's own is
/// another. The schedule has the extents of one input with a batch. A model of several inputs, or
/// of one without a batch, has its own ones alone.
SizedModel sized_model(const std::string& name, const InputSize& size, const ScheduleHead& head,
                       const ReadLimits& limits) {
  const InputSize scheduled = size_for_schedule(size, head.batch, head.height, head.width);
  if (size.batch || size.height || size.width || head.batch <= 0) return {size};
  try {
    Model own = load_model(name, size, limits, layer_kernel());
    const bool same =
        own.batch() == head.batch && own.height() == head.height && own.width() == head.width;
    const bool has_batch =
        own.named_inputs().size() == 1 && own.named_inputs().front().dims.size() > 1;
    if (same || !has_batch) return {size, std::move(own)};
  } catch (const InputError& error) {
    if (!std::holds_alternative<need::OpenDimensions>(error.need())) throw;
  }
  return {scheduled};
}

/// Returns the cuts ordered by their operators' names.
Cuts in_order(Cuts cuts) {
  std::ranges::sort(cuts, {}, &Cut::op);
  return cuts;
}

}  // namespace

RunInputs read_run_inputs(const std::string& model, const InputSize& size,
                          const std::string& schedule_file,
                          const std::optional<std::string>& profile_file, const ReadLimits& limits,
                          const FusionRules& fusion) {
  const Json json = read_json(schedule_file, limits);
  const JsonView root(json, schedule_file);
  const ScheduleHead head = schedule_head(root);
  FusionRules rules = fusion;
  if (rules.cuts.empty()) rules.cuts = head.cuts;
  if (in_order(rules.cuts) != in_order(head.cuts)) {
    throw InputError(
        schedule_file + ": $.graph: the schedule was made for " +
        (head.cuts.empty() ? "operators that are not cut" : "operators that are cut otherwise") +
        ": leave the cuts to the schedule, or plan with these");
  }
  SizedModel sized = sized_model(model, size, head, limits);
  const auto build = [&](std::optional<std::int64_t> at_a_time) {
    InputSize some = sized.size;
    if (at_a_time) some.batch = at_a_time;
    Model loaded = sized.model && !at_a_time ? *std::exchange(sized.model, std::nullopt)
                                             : load_model(model, some, limits, layer_kernel());
    try {
      return Network(std::move(loaded), Platform(head.devices).element_bytes(), rules);
    } catch (const InputError& error) {
      if (head.cuts.empty()) throw;
      throw InputError(std::string(error.what()) +
                           "; give the model, batch and size that the schedule was made for",
                       need::ScheduleOfGraph{});
    }
  };
  RunInputs inputs{.network = build({}), .schedule = {}, .size = sized.size};
  check_merge(root, inputs.network.coarse.graph, fusion.merge);
  const std::int64_t all = inputs.network.model.batch();
  if (std::vector<Batch> batches = schedule_batches(root, inputs.network.coarse.graph, all);
      !batches.empty()) {
    try {
      inputs.network = SizedNetworks(batch_sizes(all, batches), build).divide(std::move(batches));
    } catch (const InputError& error) {
      root.fail(std::string(error.what()) + "; schedule it again");
    }
  }
  inputs.schedule = schedule_from_json(root, inputs.network.coarse.graph);
  inputs.schedule_name = schedule_file;
  inputs.schedule_digest = Digest().add(json.dump()).hex();
  inputs.profile = read_profile(profile_file, limits);
  return inputs;
}

ScheduleFile schedule_in_order(const Network& network, const Device& device, Merge merge) {
  const Graph& graph = network.coarse.graph;
  ScheduleFile schedule;
  schedule.graph_name = graph.name();
  schedule.graph_digest = graph.digest();
  schedule.batch = network.model.batch();
  schedule.height = network.model.height();
  schedule.width = network.model.width();
  schedule.merge = merge;
  schedule.cuts = network.cuts;
  schedule.algorithm = "sequential";
  schedule.devices = {device};
  std::vector<OpId> order;
  for (std::size_t i = 0; i < graph.size(); ++i) order.emplace_back(i);
  schedule.schedule.devices = {one_operator_stages(order)};
  schedule.has_prediction = false;
  return schedule;
}

RunInputs inputs_in_order(Model model, const Device& device,
                          const std::optional<std::string>& profile_file, const ReadLimits& limits,
                          const FusionRules& fusion) {
  RunInputs inputs{.network = Network(std::move(model), Platform({device}).element_bytes(), fusion),
                   .schedule = {}};
  inputs.schedule = schedule_in_order(inputs.network, device, fusion.merge);
  inputs.profile = read_profile(profile_file, limits);
  return inputs;
}

std::string schedule_digest(const RunInputs& inputs) {
  if (!inputs.schedule_digest.empty()) return inputs.schedule_digest;
  return Digest().add(to_json(inputs.schedule, inputs.network.coarse.graph).dump()).hex();
}

std::optional<std::size_t> extrapolated_from(const RunInputs& inputs, const Platform& platform) {
  const ScheduleFile& schedule = inputs.schedule;
  if (!inputs.profile || !schedule.has_prediction || !schedule.predicted.measured_ranks) return {};
  return other_ranks(*inputs.profile, platform);
}

namespace {

/// Returns the platform of a cold start by its schedule alone: any store can load to any device,
/// and how fast is not asked.
Platform with_every_route(const Platform& platform, std::vector<Store> stores) {
  std::vector<Route> routes;
  if (stores.empty())
    stores.push_back({.name = "(no store)", .host = {}});  // a topology has a route
  for (std::size_t d = 0; d < platform.size(); ++d) {
    for (std::size_t s = 0; s < stores.size(); ++s) {
      routes.push_back({StoreId(s), DeviceId(d), {}, 0, 1});
    }
    for (std::size_t other = 0; other < platform.size(); ++other) {
      if (other != d) routes.push_back({DeviceId(other), DeviceId(d), {}, 0, 1});
    }
  }
  const auto devices = platform.devices();
  return Platform({devices.begin(), devices.end()}, std::move(stores), {}, std::move(routes));
}

/// Returns the graph of a cold start by its schedule alone, in which every operator that reads its
/// parameters in place has a time for that, since how fast it does so is not asked.
Graph with_times_in_place(const Graph& graph, const Weights& weights) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (const ReadInPlace& read : weights.in_place) operators[read.of.index()].in_place_ms = 0;
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  if (const Batching* const batching = graph.batching()) {
    return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost(),
                 std::make_shared<const Batching>(*batching));
  }
  return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost(),
               graph.inputs());
}

std::vector<Finding> findings_of(const RunInputs& inputs, const Platform& platform) {
  const Graph& graph = inputs.network.coarse.graph;
  const ScheduleFile& file = inputs.schedule;
  if (const auto& machine = inputs.machine) {
    return validate(machine->graph, machine->platform, file.schedule);
  }
  if (!file.schedule.weights) return validate(graph, platform, file.schedule);
  return validate(with_times_in_place(graph, *file.schedule.weights),
                  with_every_route(platform, file.stores), file.schedule);
}

void require_plannable(const ScheduleFile& file, const std::string& name) {
  if (!file.schedule.weights) return;
  const std::string reason = unplanned_weights(file);
  if (reason.empty()) return;
  throw InputError(name + ": $.weights." + reason, need::ColdStartEngine{});
}

void check_schedule(const RunInputs& inputs, const Platform& platform, std::size_t ranks,
                    std::size_t copies) {
  if (platform.size() * copies != ranks) {
    const std::string devices = std::to_string(platform.size());
    const std::string of_copies = copies == 1 ? "" : ", of " + std::to_string(copies) + " copies,";
    throw InputError(inputs.schedule_name + ": $.devices: the schedule" + of_copies + " has " +
                         devices + " devices and the job " + std::to_string(ranks) + " ranks",
                     need::Ranks{platform.size() * copies});
  }
  const auto findings = findings_of(inputs, platform);
  if (findings.empty()) return;
  const std::string line = finding_line(inputs.schedule_name, findings.front());
  if (findings.size() == 1) throw InputError(line);
  throw InputError(line + " (and " + std::to_string(findings.size() - 1) + " more)",
                   need::AllFindings{});
}

}  // namespace

namespace {

/// Returns the backends that compute on the devices: one a device, or one for all where they are
/// the same. The list is empty where some device has none in this build.
std::vector<std::string> backends_for(const Platform& platform,
                                      std::span<const BackendEntry> table) {
  std::vector<std::string> names;
  for (const Device& device : platform.devices()) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const BackendEntry& entry) {
      return entry.kind == device.kind && entry.make != nullptr && entry.has(device.precision);
    });
    if (found == table.end()) return {};
    names.emplace_back(found->name);
  }
  if (std::all_of(names.begin(), names.end(),
                  [&](const std::string& name) { return name == names.front(); })) {
    names.resize(1);
  }
  return names;
}

}  // namespace

std::vector<RankDevice> devices_of_ranks(const RunInputs& inputs, const RankOptions& options,
                                         std::size_t ranks, std::size_t copies) {
  const Platform platform(inputs.schedule.devices);
  if (!inputs.machine) require_plannable(inputs.schedule, inputs.schedule_name);
  check_schedule(inputs, platform, ranks, copies);
  std::vector<RankDevice> devices;
  const auto backends = backends_of_ranks(options, ranks);
  if (inputs.machine) {  // every rank sleeps in the same way, whatever its device
    return std::vector<RankDevice>(ranks,
                                   {backends.front(), 1, platform.devices().front().precision});
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    const DeviceId here(r % platform.size());
    const Device& device = platform.device(here);
    const BackendEntry& backend = *backends[r];
    const std::string where =
        inputs.schedule_name + ": $.devices[" + std::to_string(here.index()) + "]: ";
    if (backend.kind != device.kind) {
      throw InputError(
          where + "the schedule wants a device of kind " + device.kind + ", and rank " +
              std::to_string(r) + " has the " + std::string(backend.name) + " backend, of kind " +
              std::string(backend.kind),
          need::DeviceKind{std::string(backend.kind), backends_for(platform, options.table)});
    }
    if (!backend.has(device.precision)) {
      throw InputError(where + "made for " + std::string(to_string(device.precision)) +
                           ", which the " + std::string(backend.name) + " backend has not",
                       need::ScheduledPrecision{});
    }
    devices.push_back({&backend, std::max(1, device.threads), device.precision});
  }
  return devices;
}

}  // namespace hios::job
