#include "cli/run/run_results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/device_list.h"
#include "cli/process/output.h"
#include "cli/process/version.h"
#include "cli/run/inferences_results.h"
#include "cli/run/layers_table.h"
#include "cli/table.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/profile/extrapolate.h"
#include "hios/report/draw_inferences.h"
#include "hios/report/draw_timeline.h"

namespace hios::cli {

void print_setup(const RunCommand& command, const job::RunSetup& setup) {
  if (log::level() == log::Level::kQuiet) return;
  const auto& machine = command.inputs.machine;
  show((machine
            ? printable(machine->graph.name()) + " emulated, times x " + exact(machine->time_scale)
            : command.inputs.network.description()) +
       ", " + command.inputs.schedule.algorithm + " schedule, " +
       std::to_string(setup.ranks.size()) + " ranks, " + setup.transfer_path +
       (command.options.any_order ? ", executor ready" : "") + "\n\n");
  Table table({"rank", "host", "backend", "cores", "stages", "weights MB", "tensors MB",
               "of all MB", "sent MB"});
  const auto& devices = command.inputs.schedule.schedule.devices;
  for (std::size_t r = 0; r < setup.ranks.size(); ++r) {
    const ReportRank& rank = setup.ranks[r];
    table.add({std::to_string(r), rank.host, setup.backends[r], cores_text(rank.cores),
               std::to_string(devices[r % devices.size()].size()), megabytes(rank.weights_bytes),
               megabytes(rank.arena_bytes), megabytes(rank.all_tensors_bytes),
               megabytes(rank.sent_bytes)});
  }
  show(table.text(line_width()) + "\n");
  if (!setup.routes.empty()) show(setup.routes + "\n");
  if (setup.measured_ranks) {
    show(extrapolated_text(*setup.measured_ranks, setup.ranks.size()) + "\n\n");
  }
}

void print_steps(const std::vector<std::string>& steps) {
  for (std::size_t r = 0; r < steps.size(); ++r)
    std::printf("rank %zu\n%s", r, printable_lines(steps[r]).c_str());
}

Report full_report(const Flags& flags, const RunCommand& command, const job::RunSetup& setup,
                   const job::RunResults& results) {
  Report report = job::make_report(command.inputs, command.options, setup, results);
  report.arguments = flags.arguments();
  report.versions = versions();
  report.percentiles = command.percentiles;
  if (!results.stopped) {
    report.references = compare_references(command.references, command.inputs.network.model,
                                           results.model_outputs, setup.tolerance);
  }
  return report;
}

namespace {

/// Bits depend on algorithms, so the text names those of the run and of the one rank.
std::string bits_text(const job::RunSetup& setup, const job::Verified& verified) {
  if (!verified.compared_bits || !setup.algorithms) {
    return "not compared with one rank, as backends or arithmetics differ by rank";
  }
  const std::string result =
      verified.bitwise() ? "bit for bit the result of one rank" : "NOT THE RESULT OF ONE RANK";
  return result + " by " + setup.algorithms->source;
}

std::string verification_text(const job::RunSetup& setup, const job::Verified& verified) {
  char text[320];
  std::snprintf(text, sizeof text,
                "%zu %s compared: largest error %.3g (relative %.3g) in %s, %s (%s: %.3g + %.3g of "
                "the value); ",
                verified.operators, verified.operators == 1 ? "operator" : "operators",
                verified.worst.max_abs, verified.worst.max_rel, verified.worst_operator.c_str(),
                verified.passed() ? "within the tolerance" : "BEYOND THE TOLERANCE",
                to_string(setup.precision).data(), setup.tolerance.atol, setup.tolerance.rtol);
  const std::string nan = verified.worst.nan == 0
                              ? ""
                              : std::to_string(verified.worst.nan) + " values are NaN in both; ";
  return text + nan + bits_text(setup, verified);
}

std::string emulated_text(const job::Verified& verified) {
  return std::to_string(verified.operators) + (verified.operators == 1 ? " digest" : " digests") +
         " compared: " +
         (verified.bitwise() ? "those of one rank that has all parameters"
                             : "NOT THOSE OF ONE RANK, first in " + verified.first_unequal);
}

/// Returns one row for scripts: plain numbers, one value per cell.
Table results_csv(const RunCommand& command, const Report& report, const Statistics& latency) {
  std::vector<std::string> columns = {
      "model",        "algorithm",        "ranks",       "min_ms",   "best_quarter_ms",
      "median_ms",    "p95_ms",           "p99_ms",      "mean_ms",  "samples",
      "predicted_ms", "prediction_error", "overhead_ms", "verified", "bitwise"};
  const bool predicted = report.predicted_ms.has_value();
  const auto checked = [&](bool ReportVerification::*member) {
    return report.verified ? std::to_string((*report.verified).*member) : "";
  };
  std::vector<std::string> cells = {
      report.model,
      report.algorithm,
      std::to_string(report.ranks.size()),
      exact(latency.min),
      exact(latency.best_quarter),
      exact(latency.median),
      exact(latency.p95),
      exact(latency.p99),
      exact(latency.mean),
      std::to_string(latency.samples),
      predicted ? exact(*report.predicted_ms) : "",
      predicted ? exact(prediction_error(latency.best_quarter, *report.predicted_ms)) : "",
      report.measured || report.throughput ? exact(report.overhead_ms) : "",
      checked(&ReportVerification::passed),
      report.verified && report.verified->bitwise ? std::to_string(*report.verified->bitwise) : ""};
  for (const auto& [column, cell] : inferences_columns(report)) {
    columns.push_back(column);
    cells.push_back(cell);
  }
  if (const auto& machine = command.inputs.machine) {
    columns.insert(columns.end(), {"backend", "time_scale"});
    cells.insert(cells.end(), {"emulated", exact(machine->time_scale)});
  }
  for (const double p : report.percentiles) {
    columns.push_back("p" + exact(p) + "_ms");
    cells.push_back(exact(percentile(report.iterations_ms, p)));
  }
  Table table(columns);
  table.add(cells);
  return table;
}

Table results_table(const RunCommand& command, const Report& report, const Statistics& latency) {
  Table table({"schedule", "min ms", "best quarter", "median", "p95", "p99", "mean", "runs",
               "predicted", "error"});
  const bool predicted = report.predicted_ms.has_value();
  table.add(
      {report.algorithm + (command.inputs.machine ? " (emulated)" : ""), fixed(latency.min, 3),
       fixed(latency.best_quarter, 3), fixed(latency.median, 3), fixed(latency.p95, 3),
       fixed(latency.p99, 3), fixed(latency.mean, 3), std::to_string(latency.samples),
       predicted ? fixed(*report.predicted_ms, 3) : "-",
       predicted ? percent(prediction_error(latency.best_quarter, *report.predicted_ms)) : "-"});
  return table;
}

/// Returns the error that --max-error judges: of the period where many inferences are in flight,
/// else of the latency.
std::optional<double> judged_error(const Report& report, const Statistics& latency) {
  if (report.throughput) return report.throughput->error();
  if (!report.predicted_ms) return {};
  return prediction_error(latency.best_quarter, *report.predicted_ms);
}

}  // namespace

int print_results(const RunCommand& command, const Report& report, const job::RunSetup& setup,
                  const job::RunResults& results) {
  const Statistics latency = summarize(report.iterations_ms, report.disturbed);
  if (command.common.csv)
    write_text(*command.common.csv, results_csv(command, report, latency).csv(),
               command.common.existing);
  show(report.throughput ? inferences_text(report)
                         : results_table(command, report, latency).text(line_width()));
  if (latency.disturbed > 0) {
    show("disturbed: " + std::to_string(latency.disturbed) + " of " +
         std::to_string(latency.samples) + (report.throughput ? " inferences" : " runs") +
         " (another process used the machine; best quarter leaves them out while enough others "
         "remain)\n");
  }
  if (report.cold_walls) show(cold_walls_text(*report.cold_walls, latency.median) + "\n");
  if (command.options.blocking) {
    show("--blocking waited after every operator: these times are not comparable\n");
  }
  if (report.measured) {
    show("executor outside kernels and waits: " + fixed(report.overhead_ms, 3) + " ms (" +
         fixed(100 * report.overhead_ms / latency.best_quarter, 2) + " %)\n");
  }
  const std::string layers = layers_table(report, command.inputs.network.coarse.graph);
  if (!layers.empty()) show("\n" + layers + "\n");
  for (const double p : report.percentiles) {
    show("p" + exact(p) + ": " + fixed(percentile(report.iterations_ms, p), 3) + " ms\n");
  }
  if (!report.incomplete.empty()) show("incomplete: " + report.incomplete + "\n");
  int status = 0;
  if (results.verified) {
    const std::string text = command.inputs.machine ? emulated_text(*results.verified)
                                                    : verification_text(setup, *results.verified);
    show(text + "\n");
    if (!results.verified->passed() || !results.verified->bitwise()) {
      log::error("verification failed: " + text);
      status = static_cast<int>(ExitCode::kCheckFailed);
    }
  }
  for (const ReportReference& reference : report.references) {
    show(reference_text(reference) + "\n");
    if (reference.passed()) continue;
    log::error(reference_text(reference));
    status = static_cast<int>(ExitCode::kCheckFailed);
  }
  if (report.throughput && report.throughput->unlike > 0) {
    log::error(std::to_string(report.throughput->unlike) +
               " inferences gave other outputs than the same input did before");
    status = static_cast<int>(ExitCode::kCheckFailed);
  }
  const std::optional<double> error = judged_error(report, latency);
  if (!command.max_error || !error) return status;
  if (100 * std::abs(*error) <= *command.max_error) return status;
  log::error("the prediction is off by " + percent(*error) + ", more than --max-error " +
             exact(*command.max_error));
  return static_cast<int>(ExitCode::kCheckFailed);
}

namespace {

std::vector<InferenceStage> inference_stages(const job::MeasuredInferences& measured) {
  std::vector<InferenceStage> stages;
  for (std::size_t r = 0; r < measured.ranks.size(); ++r) {
    for (const StageOfInference& each : measured.ranks[r].trace)
      stages.push_back(
          {r, each.inference, each.stage, each.awaited_ms, each.start_ms, each.end_ms});
  }
  return stages;
}

}  // namespace

Trace run_trace(const job::RunInputs& inputs, const job::RunResults& results,
                const CostModel* costs) {
  Trace trace;
  const Graph& graph = inputs.network.coarse.graph;
  const Schedule& schedule = inputs.schedule.schedule;
  const std::vector<Store>& stores = inputs.schedule.stores;
  if (results.predicted)
    draw_timeline("planned", graph, schedule, *results.predicted, costs, stores, trace);
  if (results.measured)
    draw_timeline("measured", graph, schedule, *results.measured, nullptr, stores, trace);
  if (results.inferences)
    draw_inferences(graph, schedule, inference_stages(*results.inferences), trace);
  return trace;
}

}  // namespace hios::cli
