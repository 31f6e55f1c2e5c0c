#pragma once

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns a cold start over several devices: submodels between dominators, each planned by a mixed
/// integer linear program that knows the earlier ones (Namkoong, Park, Jung, Kim and Park,
/// "SortingHat: System Topology-aware Scheduling of Deep Neural Network Models on Multi-GPU
/// Systems", section 3). Decides devices, order, loads, copies of parameters between devices, and
/// reads in place. Never longer by simulate() than `pipelined` or the greedy schedule that the
/// programs start from.
///
/// Throws InputError without a topology, without a solver, and where some operator can be nowhere.
ScheduleResult schedule_sortinghat(const Problem& problem, const Options& options,
                                   const Context& context);

/// Returns the greedy schedule that the programs start from, or that of `pipelined` where that is
/// shorter, or the deadline expires. Needs no solver. Throws InputError as schedule_sortinghat().
Schedule greedy_submodels(const Problem& problem, const Options& options, const Context& context);

}  // namespace hios::scheduler
