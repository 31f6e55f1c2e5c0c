#pragma once

#include "scheduler/registry.h"

/// Returns the scheduler of this example, "earliest-finish": the classic list schedule of
/// Topcuoglu, Hariri and Wu ("Performance-effective and low-complexity task scheduling for
/// heterogeneous computing", 2002, section IV-A): operators in the order of their upward ranks,
/// each on the device where it finishes first.
hios::scheduler::Algorithm earliest_finish();
