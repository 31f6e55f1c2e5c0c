#pragma once

#include "scheduler/pipeline/bounds/programs/program_bound.h"

/// Lower bounds of the period by mixed integer programs (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", section 3), for devices that
/// differ.
namespace hios::scheduler::pipeline {

/// Section 3.1, Eqs. 5 to 12 without x, with such windows, and tighter rows for tensors: one is
/// sent by a block that makes it and lacks a consumer, received by one that lacks its producer.
/// Where devices differ, which of them a block runs on is a choice, and a vertex in a block counts
/// by class. Exact where operators run one at a time and tensors do not fill fast memory.
ProgramBound exact_bound(const LeastCosts& costs, const milp::Solver& solver,
                         const ProgramOptions& options);

}  // namespace hios::scheduler::pipeline
