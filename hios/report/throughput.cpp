#include "hios/report/throughput.h"

#include <nlohmann/json.hpp>

namespace hios {
namespace {

template <class T>
Json number_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ranks_json(const std::vector<ReportShares>& ranks) {
  Json json = Json::array();
  for (const ReportShares& rank : ranks) {
    json.push_back({{"rank", json.size()},
                    {"computing_ms", number_or_null(rank.computing_ms)},
                    {"transferring_ms", rank.transferring_ms},
                    {"waiting_ms", rank.waiting_ms},
                    {"own_ms", rank.own_ms}});
  }
  return json;
}

}  // namespace

double ReportThroughput::per_second(std::int64_t batch) const {
  const double mean_ms = period().mean;
  return mean_ms > 0 ? 1000 * static_cast<double>(batch) / mean_ms : 0;
}

std::optional<double> ReportThroughput::error() const {
  const double best_ms = period().best_quarter;
  if (!predicted_ms || best_ms <= 0) return {};
  return (best_ms - *predicted_ms) / best_ms;
}

Json to_json(const ReportThroughput& throughput, std::int64_t batch) {
  return {{"inferences", throughput.inferences},
          {"runs", throughput.runs},
          {"in_flight", throughput.in_flight},
          {"copies", throughput.copies},
          {"distinct_inputs", throughput.distinct_inputs},
          {"window", throughput.window},
          {"per_second", throughput.per_second(batch)},
          {"period_ms", to_json(throughput.period())},
          {"predicted_period_ms", number_or_null(throughput.predicted_ms)},
          {"prediction_error", number_or_null(throughput.error())},
          {"bottleneck", throughput.bottleneck},
          {"predicted_bottleneck", number_or_null(throughput.predicted_bottleneck)},
          {"ranks", ranks_json(throughput.ranks)},
          {"unlike", throughput.unlike}};
}

}  // namespace hios
