#include "hios/schedule/prediction_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace hios {
namespace {

constexpr double kMaxLatencyMs = 1e12;
constexpr std::int64_t kMaxStages = 1'000'000'000;
constexpr std::int64_t kMaxInFlight = 1'000'000;
constexpr std::int64_t kMaxMeasuredRanks = 65'536;

/// Reads the keys of a schedule for throughput: all of them, or none.
std::optional<PredictedThroughput> read_throughput(ObjectReader& reader) {
  const auto period = reader.optional("period_ms");
  if (!period) return {};
  PredictedThroughput predicted;
  predicted.period_ms = period->number(0, kMaxLatencyMs);
  predicted.per_second = reader.required("per_second").number(0, kMaxLatencyMs);
  predicted.bottleneck = reader.required("bottleneck").string();
  predicted.in_flight =
      static_cast<std::size_t>(reader.required("in_flight").integer(1, kMaxInFlight));
  return predicted;
}

}  // namespace

Prediction read_prediction(const JsonView& view) {
  ObjectReader reader(view);
  Prediction predicted;
  predicted.latency_ms = reader.required("latency_ms").number(0, kMaxLatencyMs);
  if (const auto estimated = reader.optional("estimated_stages")) {
    predicted.estimated_stages = static_cast<std::size_t>(estimated->integer(0, kMaxStages));
  }
  if (const auto bound = reader.optional("lower_bound_ms")) {
    predicted.lower_bound_ms = bound->number(0, kMaxLatencyMs);
  }
  if (const auto bound = reader.optional("bound")) predicted.bound = bound->string();
  if (const auto ranks = reader.optional("measured_ranks")) {
    predicted.measured_ranks = static_cast<std::size_t>(ranks->integer(1, kMaxMeasuredRanks));
  }
  // Derived values are checked and not kept.
  if (const auto gap = reader.optional("gap")) gap->number(-1, kMaxLatencyMs);
  if (const auto rate = reader.optional("inputs_per_s")) rate->number(0, kMaxLatencyMs);
  predicted.throughput = read_throughput(reader);
  reader.finish();
  return predicted;
}

Json prediction_json(const Prediction& predicted, const Graph& graph) {
  Json json = {{"latency_ms", predicted.latency_ms},
               {"estimated_stages", predicted.estimated_stages},
               {"lower_bound_ms", predicted.lower_bound_ms},
               {"bound", predicted.bound},
               {"gap", predicted.gap()}};
  if (predicted.measured_ranks) json["measured_ranks"] = *predicted.measured_ranks;
  if (graph.batching() && predicted.latency_ms > 0) {
    json["inputs_per_s"] =
        1000 * static_cast<double>(graph.batching()->inputs) / predicted.latency_ms;
  }
  if (const auto& many = predicted.throughput) {
    json["period_ms"] = many->period_ms;
    json["per_second"] = many->per_second;
    json["bottleneck"] = many->bottleneck;
    json["in_flight"] = many->in_flight;
  }
  return json;
}

}  // namespace hios
