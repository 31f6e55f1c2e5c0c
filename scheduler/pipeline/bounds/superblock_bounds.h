#pragma once

#include "scheduler/pipeline/bounds/programs/program_bound.h"

/// Lower bounds of the period by mixed integer programs (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", section 3), for devices that
/// differ.
namespace hios::scheduler::pipeline {

/// Returns the bound of section 3.2: some block has at least the work of Lemma 3.3; its cost
/// includes tensors that cross its two boundaries. Vertices before and after it are free. Where
/// devices differ, the block's class is each in turn. A vertex then counts by its dual price, such
/// that some device has at least its share of all prices (programs/dual_prices.h).
ProgramBound bottleneck_bound(const LeastCosts& costs, const milp::Solver& solver,
                              const ProgramOptions& options);

/// Returns the bound of section 3.3: the same for each index of that block. The vertices before it
/// share as many devices as there are blocks before it; likewise those after it. The known period
/// determines vertices on each side of its boundaries (programs/boundary_windows.h).
ProgramBound bottleneck_guess_bound(const LeastCosts& costs, const milp::Solver& solver,
                                    const ProgramOptions& options);

}  // namespace hios::scheduler::pipeline
