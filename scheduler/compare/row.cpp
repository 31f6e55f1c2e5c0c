#include "scheduler/compare/row.h"

#include <algorithm>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"

namespace hios::scheduler {

void describe(Row& row) {
  const auto findings = validate(*row.graph, row.costs->platform(), row.schedule, row.objective);
  if (!findings.empty()) {
    throw RunError(row.algorithm + " made a schedule that breaks a rule: " + findings.front().text);
  }
  const Timeline timeline = simulate(*row.graph, row.schedule, *row.costs);
  for (const TransferTimes& transfer : timeline.transfers) {
    if (transfer.size_bytes == 0) row.sent_bytes.reset();
    if (row.sent_bytes) *row.sent_bytes += transfer.size_bytes;
  }
  double busy_ms = 0;
  for (const auto& stages : timeline.stages) {
    for (const StageTimes& stage : stages) busy_ms += stage.end_ms - stage.start_ms;
  }
  row.devices_used = devices_used(row.schedule);
  const double whole_ms = static_cast<double>(row.devices_used) * timeline.latency_ms;
  // Sums in another order than the timeline's may be larger by a rounding.
  if (whole_ms > 0) row.waiting_share = std::max(0.0, 1 - busy_ms / whole_ms);
}

std::size_t devices_used(const Schedule& schedule) {
  std::size_t used = 0;
  for (const auto& stages : schedule.devices) used += !stages.empty();
  return used;
}

}  // namespace hios::scheduler
