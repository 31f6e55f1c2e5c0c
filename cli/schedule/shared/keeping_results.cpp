#include "cli/schedule/shared/keeping_results.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/process/output.h"
#include "cli/process/version.h"
#include "cli/table.h"

namespace hios::cli {
namespace {

using scheduler::cold::Keeping;
using scheduler::cold::Server;
using scheduler::cold::ServerPlan;
using scheduler::cold::ServerResult;
using scheduler::cold::SharedSet;

Bytes kept_bytes_of(const Server& server, const Keeping& keeping, std::size_t model) {
  Bytes bytes = 0;
  for (const Resident& each : keeping.held(model).resident) {
    bytes += server.graph(model).op(each.of).parameter_bytes;
  }
  return bytes;
}

/// Returns what a device keeps: each set, with the models and operators that read it.
Json kept_json(const Server& server, const Keeping& keeping, DeviceId device) {
  Json kept = Json::array();
  for (std::size_t s = 0; s < server.sets().size(); ++s) {
    if (!keeping.has(device, s)) continue;
    const SharedSet& set = server.sets()[s];
    Json readers = Json::array();
    for (std::size_t m = 0; m < server.models().size(); ++m) {
      if (!set.of[m]) continue;
      const OpId first = server.parameters(m).sets()[*set.of[m]].operators.front();
      readers.push_back(
          {{"model", server.graph(m).name()}, {"of", server.graph(m).op(first).name}});
    }
    kept.push_back({{"parameters", set.name}, {"bytes", set.size_bytes}, {"for", readers}});
  }
  return kept;
}

Json devices_json(const Server& server, const Keeping& keeping) {
  Json devices = Json::array();
  for (std::size_t d = 0; d < server.platform().size(); ++d) {
    const DeviceId device(d);
    devices.push_back({{"name", server.platform().device(device).name},
                       {"limit_bytes", server.limit(device)},
                       {"bytes", keeping.bytes(device)},
                       {"kept", kept_json(server, keeping, device)}});
  }
  return devices;
}

Json models_json(const Server& server, const ServerPlan& plan) {
  Json models = Json::array();
  for (std::size_t m = 0; m < server.models().size(); ++m) {
    const scheduler::cold::ServedPlan& own = plan.models[m];
    models.push_back({{"name", server.graph(m).name()},
                      {"digest", server.graph(m).digest()},
                      {"share", server.models()[m].share},
                      {"kept_bytes", kept_bytes_of(server, plan.keeping, m)},
                      {"latency_ms", own.latency_ms},
                      {"lower_bound_ms", own.bound.ms},
                      {"bound", own.bound.name},
                      {"outcome", to_string(own.outcome)}});
  }
  return models;
}

Json nullable(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::optional<double> keeping_gap(double expected_ms, double bound_ms) {
  if (!(bound_ms > 0)) return std::nullopt;
  return expected_ms / bound_ms - 1;
}

std::string keeping_text(const Server& server, const ServerResult& result) {
  std::vector<std::string> columns = {"kept", "expected ms", "gap", "GB"};
  for (std::size_t m = 0; m < server.models().size(); ++m) {
    columns.push_back(server.graph(m).name() + " (" + fixed(100 * server.models()[m].share, 1) +
                      " %) ms");
  }
  Table table(std::move(columns));
  for (const ServerPlan& plan : result.plans) {
    const auto gap = keeping_gap(plan.expected_ms, result.bound_ms);
    std::vector<std::string> cells = {
        plan.name, fixed(plan.expected_ms, 3), gap ? percent(*gap) : "-",
        fixed(static_cast<double>(plan.keeping.all_bytes()) / 1e9, 3)};
    for (const auto& model : plan.models) cells.push_back(fixed(model.latency_ms, 3));
    table.add(std::move(cells));
  }
  const std::string bound = result.bound_ms > 0 ? fixed(result.bound_ms, 3) + " ms" : "not known";
  return table.text(line_width()) + "lower bound of every keeping: " + bound + "\n";
}

std::string keeping_csv(const Server& server, const ServerResult& result) {
  Table table({"kept", "model", "share", "kept_bytes", "latency_ms", "lower_bound_ms", "bound",
               "expected_ms", "expected_lower_bound_ms"});
  for (const ServerPlan& plan : result.plans) {
    for (std::size_t m = 0; m < plan.models.size(); ++m) {
      table.add({plan.name, server.graph(m).name(), exact(server.models()[m].share),
                 std::to_string(kept_bytes_of(server, plan.keeping, m)),
                 exact(plan.models[m].latency_ms), exact(plan.models[m].bound.ms),
                 plan.models[m].bound.name, exact(plan.expected_ms),
                 result.bound_ms > 0 ? exact(result.bound_ms) : ""});
    }
  }
  return table.csv();
}

Json keeping_json(const Flags& flags, const Common& common, const ServerInputs& inputs,
                  const Server& server, const ServerResult& result, double seconds) {
  const ServerPlan& planned = result.plans.front();
  Json compared = Json::array();
  for (const ServerPlan& plan : result.plans) {
    Json latencies = Json::array();
    for (const auto& model : plan.models) latencies.push_back(model.latency_ms);
    compared.push_back({{"kept", plan.name},
                        {"expected_ms", plan.expected_ms},
                        {"bytes", plan.keeping.all_bytes()},
                        {"latencies_ms", latencies}});
  }
  const auto bound_ms = result.bound_ms > 0 ? std::optional(result.bound_ms) : std::nullopt;
  return {{"format", "hios-keeping"},
          {"version", kFormatVersion},
          {"commit", commit()},
          {"versions", versions()},
          {"arguments", flags.arguments()},
          {"seed", common.seed},
          {"keep_bytes", inputs.keep_bytes},
          {"options", inputs.options.non_defaults()},
          {"seconds", seconds},
          {"timed_out", result.timed_out},
          {"models", models_json(server, planned)},
          {"devices", devices_json(server, planned.keeping)},
          {"expected_ms", planned.expected_ms},
          {"lower_bound_ms", nullable(bound_ms)},
          {"gap", nullable(keeping_gap(planned.expected_ms, result.bound_ms))},
          {"compared", compared}};
}

}  // namespace hios::cli
