// The time between the two readings around all n operators is that of the operators and of one
// reading. The n pairs of readings around each operator hold the operators and n readings: n - 1
// more. The launch is the plain run's time without that of the operators. So an inference of one
// segment is predicted to take as long as the plain run, however long readings take. All readings
// are in recordings, so that the device never waits for its host between two of them. Tests:
// tests/engine/measure/launch_test.cpp.
#include "engine/measure/launch.h"

#include <algorithm>

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
  return sweep;
}

void add_device_times(const DeviceSweep& sweep, std::size_t operators, SweepTimes& into) {
  into.add(operators, sweep.whole_ms);
  into.add(operators + 1, sweep.plain_ms);
}

std::optional<MeasuredLaunch> launch_of(std::span<const Measurement> merged) {
  const auto operators = merged.first(merged.size() - kDeviceTimes);
  const Measurement& whole = merged[operators.size()];
  const Measurement& plain = merged[operators.size() + 1];
  if (operators.empty() || plain.ms == 0) return std::nullopt;
  double marked_ms = 0, shortest_ms = operators.front().ms;
  for (const Measurement& one : operators) {
    marked_ms += one.ms;
    shortest_ms = std::min(shortest_ms, one.ms);
  }
  const auto count = static_cast<double>(operators.size());
  MeasuredLaunch launch{.samples = plain.samples};
  if (count > 1) launch.marks_ms = std::min((marked_ms - whole.ms) / (count - 1), shortest_ms);
  launch.ms = std::max(0.0, plain.ms - (marked_ms - count * launch.marks_ms));
  return launch;
}

Measurement without_marks(const Measurement& marked, const std::optional<MeasuredLaunch>& launch) {
  const double marks_ms = launch ? launch->marks_ms : 0;
  return {std::max(0.0, marked.ms - marks_ms), std::max(0.0, marked.min_ms - marks_ms),
          marked.samples};
}

}  // namespace hios
