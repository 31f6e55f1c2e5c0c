#include "hios/profile/loads/loads_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "hios/profile/points_json.h"

namespace hios {
namespace {

constexpr std::int64_t kMostLoadSamples = 1'000'000'000;

MeasuredLoads read_loads(const JsonView& view) {
  ObjectReader reader(view);
  MeasuredLoads loads;
  loads.start_ms = reader.required("start_ms").number(0, kMaxMs);
  loads.latency_ms = reader.required("latency_ms").number(0, kMaxMs);
  loads.gb_per_s = reader.required("gb_per_s").number(kMinGbPerS, kMaxGbPerS);
  loads.together_gb_per_s = reader.required("together_gb_per_s").number(kMinGbPerS, kMaxGbPerS);
  loads.slowdown = reader.required("slowdown").number(1, kMostSlowdown);
  loads.load_slowdown = reader.required("load_slowdown").number(1, kMostSlowdown);
  loads.points = read_points(reader.required("points"));
  loads.samples = reader.required("samples").integer(1, kMostLoadSamples);
  if (const auto network = reader.optional("network")) loads.network = network->string();
  reader.finish();
  return loads;
}

InPlaceMeasurement read_in_place(const JsonView& view) {
  ObjectReader reader(view);
  InPlaceMeasurement measured;
  measured.ms = reader.required("ms").number(0, kMaxMs);
  measured.size_bytes = static_cast<Bytes>(reader.required("bytes").integer(0, kMaxBytes));
  measured.samples = reader.required("samples").integer(1, kMostLoadSamples);
  reader.finish();
  return measured;
}

}  // namespace

void read_cold_start(ObjectReader& reader, Configuration& into) {
  if (const auto loads = reader.optional("loads")) {
    ObjectReader stores(*loads);
    for (const StoreKind kind : {StoreKind::kMemory, StoreKind::kDisk}) {
      const auto store = stores.optional(std::string(to_string(kind)));
      if (store) into.loads.emplace(kind, read_loads(*store));
    }
    stores.finish();
  }
  if (const auto in_place = reader.optional("in_place")) {
    for (const auto& [signature, measured] : in_place->members()) {
      into.in_place.emplace(signature, read_in_place(measured));
    }
  }
}

void write_cold_start(const Configuration& configuration, Json& json) {
  for (const auto& [kind, loads] : configuration.loads) {
    Json& store = json["loads"][std::string(to_string(kind))];
    store = {{"start_ms", loads.start_ms},          {"latency_ms", loads.latency_ms},
             {"gb_per_s", loads.gb_per_s},          {"together_gb_per_s", loads.together_gb_per_s},
             {"slowdown", loads.slowdown},          {"load_slowdown", loads.load_slowdown},
             {"points", points_json(loads.points)}, {"samples", loads.samples}};
    if (!loads.network.empty()) store["network"] = loads.network;
  }
  for (const auto& [signature, measured] : configuration.in_place) {
    json["in_place"][signature] = {
        {"ms", measured.ms}, {"bytes", measured.size_bytes}, {"samples", measured.samples}};
  }
}

}  // namespace hios
