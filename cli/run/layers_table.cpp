#include "cli/run/layers_table.h"

#include "cli/process/output.h"
#include "cli/table.h"

namespace hios::cli {
namespace {

std::string milliseconds(const std::optional<double>& ms) { return ms ? fixed(*ms, 4) : "-"; }

std::string kilobytes(Bytes size_bytes) {
  return size_bytes == 0 ? "-" : fixed(static_cast<double>(size_bytes) / 1e3, 1);
}

/// Adds a time to the sum, which stays empty while no summand is known.
void add_known(std::optional<double>& sum, const std::optional<double>& ms) {
  if (ms) sum = sum.value_or(0) + *ms;
}

}  // namespace

std::string layers_table(const Report& report, const Graph& graph) {
  if (report.operators.empty()) return {};
  std::optional<double> predicted, measured;
  Bytes sent = 0;
  for (const ReportOperator& row : report.operators) {
    add_known(predicted, row.predicted_ms);
    add_known(measured, row.measured_ms);
    sent += row.sent_bytes;
  }
  Table table({"operator", "rank", "stage", "predicted ms", "measured ms", "share %", "output KB",
               "sent KB"});
  for (const ReportOperator& row : report.operators) {
    const bool shared = row.measured_ms && measured.value_or(0) > 0;
    table.add({graph.op(row.op).name, std::to_string(row.rank), std::to_string(row.stage),
               milliseconds(row.predicted_ms), milliseconds(row.measured_ms),
               shared ? fixed(100 * *row.measured_ms / *measured, 1) : "-",
               kilobytes(row.output_bytes), kilobytes(row.sent_bytes)});
  }
  table.add(
      {"all", "", "", milliseconds(predicted), milliseconds(measured), "", "", kilobytes(sent)});
  return "operators in the order in which they started; measured: medians of a few runs after the "
         "timed ones; share: of all operators' times, on all ranks\n" +
         table.text(line_width());
}

}  // namespace hios::cli
