#include "hios/report/report.h"

#include <cmath>
#include <cstdio>

namespace hios {
namespace {

/// JSON knows neither NaN nor infinity.
Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const ReportRank& rank, std::size_t number) {
  return {{"rank", number},
          {"host", rank.host},
          {"cores", rank.cores},
          {"threads", rank.threads},
          {"backend", rank.backend},
          {"arena_bytes", rank.arena_bytes},
          {"all_tensors_bytes", rank.all_tensors_bytes},
          {"sent_bytes", rank.sent_bytes}};
}

Json to_json(const ReportStage& stage) {
  return {{"rank", stage.rank},
          {"stage", stage.stage},
          {"operators", stage.operators},
          {"predicted_start_ms", value_or_null(stage.predicted_start_ms)},
          {"predicted_end_ms", value_or_null(stage.predicted_end_ms)},
          {"measured_start_ms", stage.measured_start_ms},
          {"measured_end_ms", stage.measured_end_ms}};
}

Json to_json(const ReportVerification& verified) {
  return {{"reference", verified.reference},
          {"operators", verified.operators},
          {"max_abs", finite_or_null(verified.max_abs)},
          {"max_rel", finite_or_null(verified.max_rel)},
          {"math", verified.precision},
          {"atol", verified.atol},
          {"rtol", verified.rtol},
          {"outside", verified.outside},
          {"worst_operator", verified.worst_operator},
          {"bitwise", value_or_null(verified.bitwise)},
          {"first_unequal", verified.first_unequal},
          {"passed", verified.passed}};
}

/// {"p99.9": …}.
Json percentiles_json(const Report& report) {
  Json json = Json::object();
  for (const double percent : report.percentiles) {
    char name[32];
    std::snprintf(name, sizeof name, "p%.12g", percent);
    json[name] = percentile(report.iterations_ms, percent);
  }
  return json;
}

Json digests_json(const Report& report) {
  Json json = {{"graph", report.graph_digest}, {"schedule", report.schedule_digest}};
  if (report.profile_digest) json["profile"] = *report.profile_digest;
  return json;
}

/// Each element of a list by the to_json above.
template <class List>
Json array_json(const List& list) {
  Json json = Json::array();
  for (const auto& element : list) json.push_back(to_json(element));
  return json;
}

Json ranks_json(const std::vector<ReportRank>& ranks) {
  Json json = Json::array();
  for (const ReportRank& rank : ranks) json.push_back(to_json(rank, json.size()));
  return json;
}

}  // namespace

double prediction_error(double measured_ms, double predicted_ms) {
  return (measured_ms - predicted_ms) / measured_ms;
}

Json to_json(const Report& report) {
  const Statistics statistics = summarize(report.iterations_ms);
  Json latency = to_json(statistics);
  if (!report.percentiles.empty()) latency["percentiles"] = percentiles_json(report);
  std::optional<double> error;
  if (report.predicted_ms && statistics.best_quarter > 0) {
    error = prediction_error(statistics.best_quarter, *report.predicted_ms);
  }
  Json json = {{"format", "hios-report"},
               {"version", 1},
               {"arguments", report.arguments},
               {"versions", report.versions},
               {"ranks", ranks_json(report.ranks)},
               {"transfer_path", report.transfer_path},
               {"digests", digests_json(report)},
               {"model",
                {{"name", report.model},
                 {"batch", report.batch},
                 {"height", report.height},
                 {"width", report.width}}},
               {"algorithm", report.algorithm},
               {"seed", report.seed},
               {"protocol", report.protocol},
               {"latency_ms", std::move(latency)},
               {"iterations_ms", report.iterations_ms},
               {"predicted_ms", value_or_null(report.predicted_ms)},
               {"prediction_error", value_or_null(error)},
               {"overhead_ms", report.overhead_ms},
               {"verified", report.verified ? to_json(*report.verified) : Json(nullptr)},
               {"stages", array_json(report.stages)}};
  if (report.transfer_paths) json["transfer_paths"] = *report.transfer_paths;
  return json;
}

}  // namespace hios
