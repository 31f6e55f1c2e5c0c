#pragma once

#include <span>
#include <string>

#include "engine/run/plan/plan.h"
#include "hios/graph/graph.h"

/// The steps of a plan in words: for watchdogs, errors and listings of plans.
namespace hios {

inline constexpr const char* kBetweenIterations =
    "between two iterations, where ranks wait for each other";

inline constexpr const char* kEndOfMessages = "waiting for the end of its sends";
inline constexpr const char* kLoadsAlone = "loading parameters";
inline constexpr const char* kEndOnDevice = "waiting for the device";

/// Returns "stage 4: conv_7, conv_8 | conv_9" (two groups), or "waiting for conv_3 from rank 1
/// (4096 bytes), which stage 5 needs: conv_10".
std::string describe(const Step& step, const RankPlan& plan, const Graph& graph);

/// Returns "conv_3 from rank 1 (4096 bytes)": the parameters that a load brings, and the rank that
/// they or the lane come from.
std::string describe(const PlannedLoad& load, const Graph& graph);

/// Returns the message that a step sends or awaits; null for a stage.
const PlannedMessage* message_of(const Step& step, const RankPlan& plan);

/// Returns all steps of a plan, one a line.
std::string steps_text(const RankPlan& plan, const Graph& graph);

/// Returns "stage 4: conv_7, conv_9", or "stages 4 to 6: conv_7, conv_9 … pool_3": the operators of
/// the first stage and of the last.
std::string describe(const Segment& segment, const RankPlan& plan, const Graph& graph);

/// Returns the operators of the segments given to a device, by stream: "stream 0: conv_1, conv_2,
/// conv_3 … pool_9 (14 operators); stream 1: conv_4". Group g of a stage runs on stream g
/// (core_shares()). A stream's list is shortened to a readable length.
std::string by_stream(std::span<const Segment> given, const RankPlan& plan, const Graph& graph);

}  // namespace hios
