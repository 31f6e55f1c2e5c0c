#pragma once

#include <optional>
#include <span>

#include "engine/measure/sweep_times.h"
#include "engine/run/executor.h"
#include "hios/profile/profile.h"

/// Sweeps on a device that is given its work in advance. A reading of its clock around an operator
/// takes time itself, which counts where operators take some microseconds. The rank's time to
/// launch the work and to see its end is in no operator. So a sweep is three runs: with the clock
/// read around all operators, without readings, and with readings around each operator.
namespace hios {

/// The times of the three runs.
struct DeviceSweep {
  double whole_ms = 0;   ///< all operators, on the device's clock
  double plain_ms = 0;   ///< the run without readings, on the rank's clock
  double marked_ms = 0;  ///< the run with readings around each operator, on the rank's clock
  double ms() const { return marked_ms + plain_ms; }
};

/// Runs the network three times; afterwards the executor's clocks are those around each operator.
/// REQUIRES: an asynchronous device, a stage.
DeviceSweep sweep_device(Executor& executor);

/// The number of times of a DeviceSweep that SweepTimes has, after those of the operators.
inline constexpr std::size_t kDeviceTimes = 2;
/// Adds these times; zeros where there is no such device.
void add_device_times(const DeviceSweep& sweep, std::size_t operators, SweepTimes& into);

/// Computes the launch time from the merged times of operators, with their readings, and the
/// kDeviceTimes after them. The readings' time is such that all operators without it take as long
/// as the device took without readings; the launch is the rest of the plain run. Returns nothing
/// where there is no such device.
std::optional<MeasuredLaunch> launch_of(std::span<const Measurement> merged);

/// Returns the time without that of the readings.
Measurement without_marks(const Measurement& marked, const std::optional<MeasuredLaunch>& launch);

}  // namespace hios
