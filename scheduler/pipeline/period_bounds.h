#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/bounds.h"

namespace hios::scheduler::pipeline {

/// What the period of no valid schedule is below: the simple bound of Archer, Fahrbach, Liu and
/// Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference" (Lemma 3.3), for devices
/// that differ and stages of several groups. One device does each operator's work for each
/// inference, and a stage takes at least the shares of its operators (scheduler/bounds/shares.h);
/// so the dearest device takes the greatest least path share, and all devices together all least
/// work shares.
LowerBound simple_period_bound(const Graph& graph, const CostModel& costs);

}  // namespace hios::scheduler::pipeline
