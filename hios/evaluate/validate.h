#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The rules that a schedule must meet.
enum class Rule {
  kDeviceCount,      ///< a list of stages for each device of the platform
  kMissing,          ///< every operator runs
  kTwice,            ///< and runs once
  kEmptyStage,       ///< no empty stage or group
  kTooManyGroups,    ///< at most `streams` groups in a stage
  kDependentGroups,  ///< groups of one stage are independent, also through other operators
  kOrderInGroup,     ///< a group lists its operators in an order that their edges allow
  /// No cyclic wait through edges, the order of stages on every device and, where links carry one
  /// tensor at a time, the listed order of transfers; with weights, through lanes, loads from
  /// devices and evictions, too.
  kCycle,
  /// The device holds outputs and parameters of its operators; with weights, room for every load
  /// comes in time, whatever the loads' speed.
  kMemory,
  kNotAllowed,        ///< the operator may run on that device (`allowed`, `time_ms`)
  kColocate,          ///< equal labels share a device
  kTransferUnneeded,  ///< a listed transfer's tensor is needed at its destination
  kTransferMissing,   ///< if transfers are listed, all are
  kTransferTwice,     ///< and each is listed once
  kBlockCycle,        ///< for throughput: blocks form no cycle
  // Rules of a schedule's weights:
  kWeightsMissing,  ///< an operator's device, and a load's source, hold the parameters at some time
  kWeightsTwice,    ///< a device gets them once: as residents, by a load, or read in place
  kWeightsGone,     ///< none are evicted where they never are, or before their last use is over
  kWeightsUnneeded,  ///< an entry names an operator with parameters
  kInPlace,          ///< an operator that reads them in place has a time for it, and a stage alone
  kNoRoute,          ///< the platform has the route of each load and each read in place
};

/// A violation of a rule, with its location.
struct Finding {
  Rule rule;
  std::string text;  ///< one line: operator, device, stage
  std::optional<OpId> op;
  std::optional<DeviceId> device;
  std::optional<std::size_t> stage;
  std::optional<std::size_t> transfer = {};  ///< its index in the schedule's list
  std::string weights = {};  ///< its path in the schedule's weights: "lanes[1][3]"; empty: none
};

/// Checks a schedule against every rule. No findings mean that the engine will run it without
/// deadlock (a stage awaits its inputs, runs its groups, then sends). Costs do not matter, and of
/// the links only their contention does. A schedule for throughput consists of blocks, which form
/// no cycle (hios/evaluate/blocks.h). A schedule's weights need a topology, of which only the
/// presence of routes matters (hios/evaluate/cold/validate_weights.h).
std::vector<Finding> validate(const Graph& graph, const Platform& platform,
                              const Schedule& schedule, Objective objective = Objective::kLatency);

/// Returns a finding with its location in the file: "schedule.json: $.devices[1].stages[4]: …".
std::string finding_line(const std::string& file, const Finding& finding);

}  // namespace hios
