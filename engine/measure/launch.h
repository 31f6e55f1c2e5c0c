#pragma once

#include <span>

#include "engine/measure/sweep_times.h"
#include "engine/run/executor.h"
#include "hios/profile/profile.h"

/// Sweeps on a device that is given its work in advance. Reading its clock around an operator takes
/// time by itself, which counts where operators take some microseconds, and what a rank takes to
/// tell the device and to see that it is done is in no operator. So a sweep is three runs in turns:
/// with the clock read around all operators, not at all, and around each.
namespace hios {

/// What the three runs took.
struct DeviceSweep {
  double whole_ms = 0;   ///< all operators, on the device's clock
  double plain_ms = 0;   ///< the run without the clock, on the rank's
  double marked_ms = 0;  ///< the run with it around each operator, on the rank's
  double ms() const { return marked_ms + plain_ms; }
};

/// The three runs; the executor's clocks are then those around each operator. REQUIRES: an
/// asynchronous device, a stage.
DeviceSweep sweep_device(Executor& executor);

/// As things of SweepTimes, behind the operators: what of a sweep is compared.
inline constexpr std::size_t kDeviceThings = 2;
/// Zeros where there is no such device.
void add_device_things(const DeviceSweep& sweep, std::size_t operators, SweepTimes& into);

/// From the merged times of operators, as they were marked, and of kDeviceThings behind them: what
/// marks added to each operator, so that all together take what the device took without them, and
/// what remains of the plain run. Nothing where there is no such device.
std::optional<MeasuredLaunch> launch_of(std::span<const Measurement> merged);

/// The time without what marks added.
Measurement without_marks(const Measurement& marked, const std::optional<MeasuredLaunch>& launch);

}  // namespace hios
