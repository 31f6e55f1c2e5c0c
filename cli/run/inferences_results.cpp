#include "cli/run/inferences_results.h"

#include "cli/process/output.h"

namespace hios::cli {
namespace {

std::string predicted_text(const std::optional<double>& ms) { return ms ? fixed(*ms, 3) : "-"; }
std::string error_text(const std::optional<double>& error) { return error ? percent(*error) : "-"; }

Table whole_table(const Report& report) {
  const ReportThroughput& many = *report.throughput;
  const Statistics period = many.period();
  const Statistics latency = summarize(report.iterations_ms, report.disturbed);
  Table table({"schedule", "copies", "in flight", "inputs/s", "period ms", "best quarter", "p95",
               "predicted", "error", "latency ms", "p95 ", "predicted "});
  table.add({report.algorithm, std::to_string(many.copies), std::to_string(many.in_flight),
             fixed(many.per_second(report.batch), 1), fixed(period.mean, 3),
             fixed(period.best_quarter, 3), fixed(period.p95, 3), predicted_text(many.predicted_ms),
             error_text(many.error()), fixed(latency.median, 3), fixed(latency.p95, 3),
             predicted_text(report.predicted_ms)});
  return table;
}

/// Returns the times of each rank, in ms per inference of its copy.
Table ranks_table(const Report& report) {
  const ReportThroughput& many = *report.throughput;
  Table table({"rank", "computing", "transferring", "waiting", "own", "weights MB", "tensors MB",
               "bottleneck"});
  const std::size_t devices = report.schedule.devices.size();
  for (std::size_t r = 0; r < many.ranks.size(); ++r) {
    const ReportShares& shares = many.ranks[r];
    const bool measured = r == many.bottleneck;
    const bool predicted = many.predicted_bottleneck && r % devices == *many.predicted_bottleneck;
    table.add({std::to_string(r), predicted_text(shares.computing_ms),
               fixed(shares.transferring_ms, 3), fixed(shares.waiting_ms, 3),
               fixed(shares.own_ms, 3), megabytes(report.ranks[r].weights_bytes),
               megabytes(report.ranks[r].arena_bytes),
               measured && predicted ? "measured, predicted"
               : measured            ? "measured"
               : predicted           ? "predicted"
                                     : ""});
  }
  return table;
}

}  // namespace

std::string inferences_text(const Report& report) {
  const ReportThroughput& many = *report.throughput;
  std::string text = whole_table(report).text(line_width());
  text += std::to_string(many.inferences) + " inferences in " + std::to_string(many.runs) +
          (many.runs == 1 ? " run, " : " runs, ") + std::to_string(many.distinct_inputs) +
          (many.distinct_inputs == 1 ? " input" : " inputs in turn") +
          "; a period is the mean of a run, of " + std::to_string(many.window) +
          " inferences or more\n\n";
  return text + ranks_table(report).text(line_width());
}

std::vector<std::pair<std::string, std::string>> inferences_columns(const Report& report) {
  if (!report.throughput) return {};
  const ReportThroughput& many = *report.throughput;
  const Statistics period = many.period();
  return {{"inferences", std::to_string(many.inferences)},
          {"in_flight", std::to_string(many.in_flight)},
          {"copies", std::to_string(many.copies)},
          {"per_second", exact(many.per_second(report.batch))},
          {"period_ms", exact(period.mean)},
          {"period_best_quarter_ms", exact(period.best_quarter)},
          {"period_p95_ms", exact(period.p95)},
          {"predicted_period_ms", many.predicted_ms ? exact(*many.predicted_ms) : ""},
          {"period_error", many.error() ? exact(*many.error()) : ""},
          {"bottleneck", std::to_string(many.bottleneck)}};
}

}  // namespace hios::cli
