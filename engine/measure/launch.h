#pragma once

#include <span>

#include "engine/measure/sweep_times.h"
#include "engine/run/executor.h"
#include "hios/profile/profile.h"

/// Sweeps on a device that is given its work in advance. Reading its clock around an operator takes
/// time by itself, which counts where operators take some microseconds, and what a rank takes to
/// tell the device and to see that it is done is in no operator. So a sweep is three runs in turns:
/// with the clock read around each operator, around all of them, and not at all.
namespace hios {

/// What three runs took.
struct DeviceSweep {
  double marked_ms = 0;  ///< the first run, on the rank's clock
  double lead_ms = 0;    ///< its first operator began behind its first mark, on the device's
  double whole_ms = 0;   ///< the second run, on the device's clock, from a mark to the next
  double plain_ms = 0;   ///< the third run, on the rank's clock
  double ms() const { return marked_ms + plain_ms; }
};

/// The three runs; the executor's clocks are then those of the first. REQUIRES: an asynchronous
/// device.
DeviceSweep sweep_device(Executor& executor);

/// As things of SweepTimes, behind the operators: what of a sweep is compared.
inline constexpr std::size_t kDeviceThings = 3;
/// Zeros where there is no such device.
void add_device_things(const DeviceSweep& sweep, std::size_t operators, SweepTimes& into);

/// From the merged times of operators, as they were marked, and of kDeviceThings behind them: what
/// marks added to each operator, so that all together take what the device took without them, and
/// what remains of the plain run. Nothing where there is no such device.
std::optional<MeasuredLaunch> launch_of(std::span<const Measurement> merged);

/// The time without what marks added.
Measurement without_marks(const Measurement& marked, const std::optional<MeasuredLaunch>& launch);

}  // namespace hios
