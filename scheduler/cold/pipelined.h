#pragma once

#include "scheduler/cold/loads.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns the cold start of one device that is shortest among all devices: operators in the
/// graph's topological order, parameters loaded in the order of their use. With
/// LoadOrder::kLoadFirst this is what servers do today, and the baseline of every speed-up. Throws
/// InputError where no device can run and hold all operators, or none has a route from a store.
ScheduleResult schedule_on_one_device(const Problem& problem, const Options& options,
                                      const Context& context, LoadOrder order);

}  // namespace hios::scheduler
