#pragma once

#include "scheduler/pipeline/bounds/programs/program_bound.h"

/// Lower bounds of the period by mixed integer programs (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", section 3), for devices that
/// differ.
namespace hios::scheduler::pipeline {

/// Section 3.2: one block has at least the work of Lemma 3.3; it costs that, and what tensors cross
/// its two boundaries. What is before it, and behind, costs nothing. Of devices that differ each
/// class in turn is that of the block; a vertex then counts with a price, which is less on fast
/// devices than its work, such that no device can have less than its share in all prices.
ProgramBound bottleneck_bound(const LeastCosts& costs, const milp::Solver& solver,
                              const ProgramOptions& options);

/// Section 3.3: the same for each place of that block in the row. What is before it is shared by as
/// many devices as there are then, and what is behind it. The known period says what must be on
/// which side of each boundary (boundary_windows.h).
ProgramBound bottleneck_guess_bound(const LeastCosts& costs, const milp::Solver& solver,
                                    const ProgramOptions& options);

}  // namespace hios::scheduler::pipeline
