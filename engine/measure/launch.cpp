#include "engine/measure/launch.h"

#include <algorithm>

// On the device's clock the second run is a lead, in which the device was told to begin, and the
// operators; the lead is that of the first run. What the first run's operators took longer is the
// marks'. Nothing is left of a rank's time but the launch. So an inference of one segment is
// predicted as long as the plain run was, whatever marks cost. Tests: launch_test.cpp.

namespace hios {

DeviceSweep sweep_device(Executor& executor) {
  DeviceSweep sweep;
  executor.record_stages(false);
  executor.time_device(true);
  executor.run_once();
  sweep.whole_ms = executor.device_ms();
  executor.time_device(false);
  sweep.plain_ms = executor.run_once();
  executor.record_stages(true);
  sweep.marked_ms = executor.run_once();
  const auto& stages = executor.clocks().stages;
  if (!stages.empty()) sweep.lead_ms = stages.front().start_ms;
  return sweep;
}

void add_device_things(const DeviceSweep& sweep, std::size_t operators, SweepTimes& into) {
  into.add(operators, sweep.lead_ms);
  into.add(operators + 1, sweep.whole_ms);
  into.add(operators + 2, sweep.plain_ms);
}

std::optional<MeasuredLaunch> launch_of(std::span<const Measurement> merged) {
  const auto operators = merged.first(merged.size() - kDeviceThings);
  const Measurement& lead = merged[operators.size()];
  const Measurement& whole = merged[operators.size() + 1];
  const Measurement& plain = merged[operators.size() + 2];
  if (operators.empty() || plain.ms == 0) return std::nullopt;
  double marked_ms = 0, shortest_ms = operators.front().ms;
  for (const Measurement& one : operators) {
    marked_ms += one.ms;
    shortest_ms = std::min(shortest_ms, one.ms);
  }
  const auto count = static_cast<double>(operators.size());
  const double device_ms = whole.ms - lead.ms;
  MeasuredLaunch launch{.samples = plain.samples};
  launch.marks_ms = std::min((marked_ms - device_ms) / count, shortest_ms);
  launch.ms = std::max(0.0, plain.ms - (marked_ms - count * launch.marks_ms));
  return launch;
}

Measurement without_marks(const Measurement& marked, const std::optional<MeasuredLaunch>& launch) {
  const double marks_ms = launch ? launch->marks_ms : 0;
  return {std::max(0.0, marked.ms - marks_ms), std::max(0.0, marked.min_ms - marks_ms),
          marked.samples};
}

}  // namespace hios
