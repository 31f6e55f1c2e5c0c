#include "hios/profile/profile_json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "hios/base/error.h"
#include "hios/platform/platform.h"
#include "hios/profile/loads/loads_json.h"
#include "hios/profile/points_json.h"
#include "hios/profile/stage_json.h"

namespace hios {
namespace {

constexpr std::int64_t kMaxSamples = 1'000'000'000;
constexpr int kMaxThreads = 65536;
constexpr std::int64_t kMaxRanks = 65536;
constexpr double kRounding = 1e-9;

Measurement read_times(ObjectReader& reader) {
  Measurement measurement;
  measurement.ms = reader.required("ms").number(0, kMaxMs);
  const JsonView least = reader.required("min");
  measurement.min_ms = least.number(0, kMaxMs);
  // A mean of equal times may be less than each of them, by rounding.
  if (measurement.min_ms > measurement.ms * (1 + kRounding)) {
    least.fail("must not be above \"ms\": it is the shortest of the times");
  }
  measurement.samples = reader.required("samples").integer(1, kMaxSamples);
  reader.finish();
  return measurement;
}

void read_operators(const JsonView& view, Configuration& into) {
  for (const auto& [signature, times] : view.members()) {
    ObjectReader reader(times);
    into.operators.emplace(signature, read_times(reader));
  }
}

void read_warm(const JsonView& view, Configuration& into) {
  for (const auto& [signature, times] : view.members()) {
    ObjectReader reader(times);
    WarmMeasurement warm;
    warm.ms = reader.required("ms").number(0, kMaxMs);
    warm.cold_ms = reader.required("cold_ms").number(0, kMaxMs);
    warm.held_bytes = static_cast<Bytes>(reader.required("held_bytes").integer(0, kMaxBytes));
    warm.samples = reader.required("samples").integer(1, kMaxSamples);
    reader.finish();
    into.warm.emplace(signature, warm);
  }
}

MeasuredCharge read_charge(const JsonView& view) {
  ObjectReader reader(view);
  MeasuredCharge measured;
  measured.charge.send = reader.required("send").number(0, kMostIoCharge);
  measured.charge.receive = reader.required("receive").number(0, kMostIoCharge);
  measured.samples = reader.required("samples").integer(1, kMaxSamples);
  reader.finish();
  return measured;
}

MeasuredLaunch read_launch(const JsonView& view) {
  ObjectReader reader(view);
  MeasuredLaunch launch;
  launch.ms = reader.required("ms").number(0, kMaxMs);
  launch.marks_ms = reader.required("marks_ms").number(-kMaxMs, kMaxMs);
  launch.samples = reader.required("samples").integer(1, kMaxSamples);
  reader.finish();
  return launch;
}

StageKey read_key(const JsonView& view) {
  StageKey groups = read_groups(view, [](const JsonView& signature) { return signature.string(); });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].empty()) view.array()[g].fail("a group of no operators; remove it");
  }
  if (groups.empty()) view.fail("a stage of no groups; remove it");
  return canonical(std::move(groups));
}

void read_stages(const JsonView& view, Configuration& into) {
  for (const JsonView& stage : view.array()) {
    ObjectReader reader(stage);
    StageKey key = read_key(reader.required("groups"));
    const Measurement times = read_times(reader);
    if (!into.stages.emplace(std::move(key), times).second) {
      stage.fail("the same groups are there twice; remove one of the two");
    }
  }
}

TransferCurve read_curve(const JsonView& view, std::size_t ranks) {
  ObjectReader reader(view);
  const auto last_rank = static_cast<std::int64_t>(ranks) - 1;
  TransferCurve curve;
  curve.from = static_cast<std::size_t>(reader.required("from").integer(0, last_rank));
  curve.to = static_cast<std::size_t>(reader.required("to").integer(0, last_rank));
  if (curve.from == curve.to) view.fail("from and to are one rank; a transfer needs two");
  curve.points = read_points(reader.required("points"));
  if (const auto shared = reader.optional("shared")) curve.shared = read_points(*shared);
  reader.finish();
  return curve;
}

void read_transfers(const JsonView& view, Configuration& into) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const JsonView& transfer : view.array()) {
    TransferCurve curve = read_curve(transfer, into.ranks);
    if (!pairs.emplace(curve.from, curve.to).second) {
      transfer.fail("the same two ranks are there twice; remove one of the two");
    }
    into.transfers.push_back(std::move(curve));
  }
}

Json read_facts(const JsonView& view) {
  if (!view.is_object()) view.fail("must be an object");
  return view.json();
}

void read_devices(const JsonView& view, Configuration& into) {
  for (const JsonView& device : view.array()) {
    into.devices.push_back(device.string());
    if (into.devices.back().empty()) device.fail("must not be empty; name a kind or a GPU");
  }
  if (into.devices.size() != into.ranks) {
    view.fail("must name a device for each of the " + std::to_string(into.ranks) + " ranks");
  }
}

/// Checks the only entry of `machine` that programs use: "algorithms", {KEY: ALGORITHM}, texts.
void check_algorithms(const JsonView& machine) {
  for (const auto& [fact, value] : machine.members()) {
    if (fact != "algorithms") continue;
    for (const auto& [key, algorithm] : value.members()) algorithm.string();
  }
}

Configuration read_configuration(const JsonView& view) {
  ObjectReader reader(view);
  Configuration configuration;
  configuration.backend = reader.required("backend").string();
  configuration.kind = reader.required("kind").string();
  configuration.threads = static_cast<int>(reader.required("threads").integer(0, kMaxThreads));
  configuration.precision = read_precision(reader.required("math"));
  configuration.ranks = static_cast<std::size_t>(reader.required("ranks").integer(1, kMaxRanks));
  if (const auto devices = reader.optional("devices")) read_devices(*devices, configuration);
  if (const auto machine = reader.optional("machine")) {
    configuration.machine = read_facts(*machine);
    check_algorithms(*machine);
  }
  if (const auto protocol = reader.optional("protocol")) {
    configuration.protocol = read_facts(*protocol);
  }
  read_operators(reader.required("operators"), configuration);
  if (const auto stages = reader.optional("stages")) read_stages(*stages, configuration);
  if (const auto transfers = reader.optional("transfers")) {
    read_transfers(*transfers, configuration);
  }
  if (const auto launch = reader.optional("launch")) configuration.launch = read_launch(*launch);
  if (const auto warm = reader.optional("warm")) read_warm(*warm, configuration);
  if (const auto charge = reader.optional("io_charge")) {
    configuration.io_charge = read_charge(*charge);
  }
  read_cold_start(reader, configuration);
  if (const auto seconds = reader.optional("seconds")) {
    configuration.seconds = seconds->number(0, kMaxMs);
  }
  reader.finish();
  return configuration;
}

Json times_json(const Measurement& measurement) {
  return {{"ms", measurement.ms}, {"min", measurement.min_ms}, {"samples", measurement.samples}};
}

Json stage_json(const StageKey& key, const Measurement& measurement) {
  Json json = {{"groups", key}};
  json.update(times_json(measurement));
  return json;
}

Json transfer_json(const TransferCurve& curve) {
  Json json = {{"from", curve.from}, {"to", curve.to}, {"points", points_json(curve.points)}};
  if (!curve.shared.empty()) json["shared"] = points_json(curve.shared);
  return json;
}

/// Adds the measurements that a configuration need not have.
void add_optional(const Configuration& configuration, Json& json) {
  if (const auto& launch = configuration.launch) {
    json["launch"] = {
        {"ms", launch->ms}, {"marks_ms", launch->marks_ms}, {"samples", launch->samples}};
  }
  for (const auto& [signature, warm] : configuration.warm) {
    json["warm"][signature] = {{"ms", warm.ms},
                               {"cold_ms", warm.cold_ms},
                               {"held_bytes", warm.held_bytes},
                               {"samples", warm.samples}};
  }
  write_cold_start(configuration, json);
  if (!configuration.io_charge) return;
  const auto& [charge, samples] = *configuration.io_charge;
  json["io_charge"] = {{"send", charge.send}, {"receive", charge.receive}, {"samples", samples}};
}

Json configuration_json(const Configuration& configuration) {
  Json operators = Json::object();
  for (const auto& [signature, measurement] : configuration.operators) {
    operators[signature] = times_json(measurement);
  }
  Json stages = Json::array();
  for (const auto& [key, measurement] : configuration.stages) {
    stages.push_back(stage_json(key, measurement));
  }
  Json transfers = Json::array();
  for (const TransferCurve& curve : configuration.transfers) {
    transfers.push_back(transfer_json(curve));
  }
  Json json = {{"backend", configuration.backend},   {"kind", configuration.kind},
               {"threads", configuration.threads},   {"math", configuration.precision},
               {"ranks", configuration.ranks},       {"machine", configuration.machine},
               {"protocol", configuration.protocol}, {"operators", std::move(operators)},
               {"stages", std::move(stages)},        {"transfers", std::move(transfers)},
               {"seconds", configuration.seconds}};
  if (!configuration.devices.empty()) json["devices"] = configuration.devices;
  add_optional(configuration, json);
  return json;
}

}  // namespace

Profile profile_from_json(const JsonView& root) {
  ObjectReader reader = open_format(root, "hios-profile");
  Profile profile;
  std::set<std::pair<std::string, ConfigurationKey>> keys;
  for (const JsonView& view : reader.required("configurations").array()) {
    Configuration configuration = read_configuration(view);
    const bool is_new = keys.emplace(configuration.backend, configuration.key()).second;
    if (!is_new) {
      view.fail(
          "backend, kind, threads, math, ranks, devices and GPU are those of an earlier "
          "configuration; "
          "put the measurements of both into one");
    }
    profile.configurations.push_back(std::move(configuration));
  }
  reader.finish();
  return profile;
}

Json to_json(const Profile& profile) {
  Json configurations = Json::array();
  for (const Configuration& configuration : profile.configurations) {
    configurations.push_back(configuration_json(configuration));
  }
  return {{"format", "hios-profile"},
          {"version", kFormatVersion},
          {"configurations", std::move(configurations)}};
}

}  // namespace hios
