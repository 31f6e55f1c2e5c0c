#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios {

enum class Rule {
  kDeviceCount,      ///< as many lists as the platform has devices
  kMissing,          ///< every operator runs
  kTwice,            ///< and once
  kEmptyStage,       ///< no empty stage or group
  kTooManyGroups,    ///< at most `streams` groups in a stage
  kDependentGroups,  ///< groups of one stage are independent, also through other operators
  kOrderInGroup,     ///< a group lists its operators in an order that their edges allow
  /// No cyclic wait through edges, the order of stages on every device and, where links carry one
  /// tensor at a time, the listed order of transfers.
  kCycle,
  kMemory,            ///< the device holds outputs and parameters of its operators
  kNotAllowed,        ///< the operator may run on that device (`allowed`, `time_ms`)
  kColocate,          ///< equal labels share a device
  kTransferUnneeded,  ///< a listed transfer's tensor is needed where it is said to go
  kTransferMissing,   ///< where transfers are listed, all are
  kTransferTwice,     ///< and each once
  kRing,              ///< for throughput: what devices run forms no cycle
};

/// One rule broken, and where.
struct Finding {
  Rule rule;
  std::string text;  ///< one line: operator, device, stage
  std::optional<OpId> op;
  std::optional<DeviceId> device;
  std::optional<std::size_t> stage;
  std::optional<std::size_t> transfer = {};  ///< its place in the schedule's list
};

/// Every rule that a schedule must meet; empty means that it will run, without deadlock, under the
/// engine's shape (a stage awaits its inputs, runs its groups, then sends). Of the platform's links
/// only their contention is asked; costs are not. A schedule for throughput is of blocks, which
/// form no cycle (hios/evaluate/blocks.h).
std::vector<Finding> validate(const Graph& graph, const Platform& platform,
                              const Schedule& schedule, Objective objective = Objective::kLatency);

/// "schedule.json: $.devices[1].stages[4]: …": a broken rule and where it stands in its file.
std::string finding_line(const std::string& file, const Finding& finding);

}  // namespace hios
