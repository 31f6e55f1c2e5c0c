#pragma once

#include "scheduler/pipeline/bounds/programs/program_bound.h"

/// Lower bounds of the period by mixed integer programs (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", section 3), for devices that
/// differ.
namespace hios::scheduler::pipeline {

/// Returns the bound of section 3.1, Eqs. 5 to 12 without x, with boundary windows and tighter rows
/// for tensors: a block sends a tensor if it has the producer and lacks a consumer, and receives
/// one if it lacks the producer. Where devices differ, a block's class is a choice, and a vertex in
/// a block counts by class. Exact where operators run one at a time and tensors do not fill fast
/// memory.
ProgramBound exact_bound(const LeastCosts& costs, const milp::Solver& solver,
                         const ProgramOptions& options);

}  // namespace hios::scheduler::pipeline
