#include "hios/report/report.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace hios {
namespace {

/// Returns null for NaN and infinity, which JSON does not have.
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
          {"sent_bytes", rank.sent_bytes},
          {"input_bytes", rank.input_bytes},
          {"weights_bytes", rank.weights_bytes},
          {"scratch_bytes", rank.scratch_bytes},
          {"held_bytes", rank.held_bytes()},
          {"memory_bytes", rank.memory_bytes}};
}

Json to_json(const ReportAlgorithms& algorithms) {
  return {{"source", algorithms.source},
          {"from_profile", algorithms.from_profile},
          {"chosen", algorithms.chosen},
          {"by_default", algorithms.by_default},
          {"digest", algorithms.digest}};
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
          {"algorithms", verified.algorithms ? to_json(*verified.algorithms) : Json(nullptr)},
          {"passed", verified.passed}};
}

Json references_json(const std::vector<ReportReference>& references) {
  Json list = Json::array();
  for (const ReportReference& each : references) {
    list.push_back({{"output", each.output},
                    {"file", each.file},
                    {"max_abs", finite_or_null(each.max_abs)},
                    {"max_rel", finite_or_null(each.max_rel)},
                    {"atol", each.atol},
                    {"rtol", each.rtol},
                    {"outside", each.outside},
                    {"bitwise", each.bitwise},
                    {"passed", each.passed()}});
  }
  return list;
}

/// Returns {"p99.9": …}.
Json percentiles_json(const Report& report) {
  Json json = Json::object();
  for (const double percent : report.percentiles) {
    char name[32];
    std::snprintf(name, sizeof name, "p%.12g", percent);
    json[name] = percentile(report.iterations_ms, percent);
  }
  return json;
}

/// Returns the indices in iterations_ms of disturbed iterations.
Json disturbed_json(const Report& report) {
  Json indices = Json::array();
  for (std::size_t i = 0; i < report.disturbed.size(); ++i) {
    if (report.disturbed[i]) indices.push_back(i);
  }
  return indices;
}

Json digests_json(const Report& report) {
  Json json = {{"graph", report.graph_digest}, {"schedule", report.schedule_digest}};
  if (report.profile_digest) json["profile"] = *report.profile_digest;
  if (report.machine_digest) json["machine"] = *report.machine_digest;
  return json;
}

Json ranks_json(const std::vector<ReportRank>& ranks) {
  Json json = Json::array();
  for (const ReportRank& rank : ranks) json.push_back(to_json(rank, json.size()));
  return json;
}

/// Adds "predicted_start_ms" and the like for `times` of a stage or transfer; null: not known.
template <class Times>
void add_times(Json& json, const std::string& process, const Times* times) {
  json[process + "_start_ms"] = times ? Json(times->start_ms) : Json(nullptr);
  json[process + "_end_ms"] = times ? Json(times->end_ms) : Json(nullptr);
}

void add_waits(Json& json, const std::string& process, const StageTimes& times) {
  json[process + "_awaited_ms"] = times.awaited_ms;
  json[process + "_ready_ms"] = times.ready_ms;
}

Json stages_json(const Report& report, const Graph& graph) {
  Json stages = Json::array();
  for (std::size_t r = 0; r < report.schedule.devices.size(); ++r) {
    for (std::size_t s = 0; s < report.schedule.devices[r].size(); ++s) {
      const StageTimes* const predicted =
          report.predicted ? &report.predicted->stages[r][s] : nullptr;
      const StageTimes* const measured = report.measured ? &report.measured->stages[r][s] : nullptr;
      Json stage = {{"rank", r},
                    {"stage", s},
                    {"operators", operator_names(graph, report.schedule.devices[r][s])}};
      add_times(stage, "predicted", predicted);
      add_times(stage, "measured", measured);
      if (predicted) add_waits(stage, "predicted", *predicted);
      if (measured) add_waits(stage, "measured", *measured);
      stages.push_back(std::move(stage));
    }
  }
  return stages;
}

/// Returns a row for every tensor and destination in either timeline, in the order of the measured
/// one, then of the predicted one.
Json transfers_json(const Report& report, const Graph& graph) {
  struct Row {
    const TransferTimes *predicted = nullptr, *measured = nullptr;
  };
  std::vector<Row> rows;
  std::map<std::pair<OpId, DeviceId>, std::size_t> row_of;
  const auto add = [&](const TransferTimes& transfer, const TransferTimes* Row::*which) {
    const auto [at, fresh] = row_of.emplace(std::pair(transfer.producer, transfer.to), rows.size());
    if (fresh) rows.emplace_back();
    rows[at->second].*which = &transfer;
  };
  if (report.measured) {
    for (const TransferTimes& each : report.measured->transfers) add(each, &Row::measured);
  }
  if (report.predicted) {
    for (const TransferTimes& each : report.predicted->transfers) add(each, &Row::predicted);
  }
  Json transfers = Json::array();
  for (const Row& row : rows) {
    const TransferTimes& known = row.measured ? *row.measured : *row.predicted;
    Json transfer = {{"producer", graph.op(known.producer).name},
                     {"from", known.from.index()},
                     {"to", known.to.index()},
                     {"size_bytes", known.size_bytes}};
    add_times(transfer, "predicted", row.predicted);
    add_times(transfer, "measured", row.measured);
    transfers.push_back(std::move(transfer));
  }
  return transfers;
}

/// Returns a row for every load of the schedule. REQUIRES: its weights.
Json loads_json(const Report& report, const Graph& graph) {
  const std::vector<Lane>& lanes = report.schedule.weights->lanes;
  std::map<std::pair<std::size_t, std::size_t>, const LoadTimes*> predicted, measured;
  const auto note = [](const std::optional<Timeline>& timeline, auto& by_position) {
    if (!timeline) return;
    for (const LoadTimes& load : timeline->loads) by_position[{load.lane, load.index}] = &load;
  };
  note(report.predicted, predicted);
  note(report.measured, measured);
  const auto times_of = [](const auto& by_position, std::size_t lane, std::size_t index) {
    const auto found = by_position.find({lane, index});
    return found == by_position.end() ? nullptr : found->second;
  };
  Json loads = Json::array();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::size_t i = 0; i < lanes[lane].size(); ++i) {
      const Load& load = lanes[lane][i];
      const auto* const device = std::get_if<DeviceId>(&load.from);
      Json row = {{"lane", lane}, {"of", graph.op(load.of).name}};
      row["from"] = device ? Json(device->index())
                           : Json(report.stores[std::get<StoreId>(load.from).index()]);
      row["to"] = load.to.index();
      const LoadTimes* const planned = times_of(predicted, lane, i);
      const LoadTimes* const run = times_of(measured, lane, i);
      const LoadTimes* const known = run ? run : planned;
      row["size_bytes"] = known ? known->size_bytes : graph.op(load.of).parameter_bytes;
      add_times(row, "predicted", planned);
      add_times(row, "measured", run);
      loads.push_back(std::move(row));
    }
  }
  return loads;
}

Json operators_json(const Report& report, const Graph& graph) {
  Json operators = Json::array();
  for (const ReportOperator& row : report.operators) {
    operators.push_back({{"operator", graph.op(row.op).name},
                         {"rank", row.rank},
                         {"stage", row.stage},
                         {"predicted_ms", value_or_null(row.predicted_ms)},
                         {"measured_ms", value_or_null(row.measured_ms)},
                         {"output_bytes", row.output_bytes},
                         {"sent_bytes", row.sent_bytes}});
  }
  return operators;
}

}  // namespace

double prediction_error(double measured_ms, double predicted_ms) {
  return (measured_ms - predicted_ms) / measured_ms;
}

Json to_json(const Report& report, const Graph& graph) {
  const Statistics statistics = summarize(report.iterations_ms, report.disturbed);
  Json latency = to_json(statistics);
  if (!report.percentiles.empty()) latency["percentiles"] = percentiles_json(report);
  std::optional<double> error;
  if (report.predicted_ms && statistics.best_quarter > 0) {
    error = prediction_error(statistics.best_quarter, *report.predicted_ms);
  }
  Json json = {{"format", "hios-report"},
               {"version", kFormatVersion},
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
               {"disturbed_iterations", disturbed_json(report)},
               {"predicted_ms", value_or_null(report.predicted_ms)},
               {"prediction_error", value_or_null(error)},
               {"overhead_ms",
                report.measured || report.throughput ? Json(report.overhead_ms) : Json(nullptr)},
               {"verified", report.verified ? to_json(*report.verified) : Json(nullptr)},
               {"stages", stages_json(report, graph)},
               {"transfers", transfers_json(report, graph)}};
  if (report.gap) json["gap"] = *report.gap;
  if (report.schedule.weights) json["loads"] = loads_json(report, graph);
  if (!report.references.empty()) json["references"] = references_json(report.references);
  if (report.cold_walls) json["cold_start"] = to_json(*report.cold_walls);
  if (report.throughput) json["throughput"] = to_json(*report.throughput, report.batch);
  if (!report.operators.empty()) json["operators"] = operators_json(report, graph);
  if (report.why) json["why"] = to_json(*report.why, graph);
  if (!report.date.empty()) json["date"] = report.date;
  if (!report.environment->empty()) json["environment"] = report.environment;
  if (!report.incomplete.empty()) json["incomplete"] = report.incomplete;
  if (report.transfer_paths) json["transfer_paths"] = *report.transfer_paths;
  return json;
}

}  // namespace hios
