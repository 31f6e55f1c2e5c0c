#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hios/base/json/owned_json.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/merge.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/weights.h"

namespace hios {

/// Operators that run one after the other on one stream.
using Group = std::vector<OpId>;

/// Groups that run at the same time on one device; group g on stream g.
struct Stage {
  std::vector<Group> groups;
  bool operator==(const Stage&) const = default;
  static auto fields(auto& self) { return std::tie(self.groups); }
};

/// A transfer of a tensor to another device, once to each device that needs it.
struct PlannedTransfer {
  OpId producer;  ///< producer of the tensor
  DeviceId to;
  auto operator<=>(const PlannedTransfer&) const = default;
};

/// Q: for each device of the platform an ordered list of stages (Kundu and Shu, "HIOS", section
/// III-A).
struct Schedule {
  std::vector<std::vector<Stage>> devices;
  /// The order in which each link or port carries tensors, where it carries one at a time: all
  /// transfers, each once (transfers_of() in hios/schedule/transfers.h). Empty: the transfer that
  /// is ready first goes first (hios/evaluate/simulate.h).
  std::vector<PlannedTransfer> transfers = {};
  /// How parameters get to the devices. Empty: they are there from the beginning.
  std::optional<Weights> weights = {};

  const std::vector<Stage>& stages(DeviceId id) const { return devices[id.index()]; }
  bool operator==(const Schedule&) const = default;
};

/// Returns stages of one operator each, in the order given, for one device.
std::vector<Stage> one_operator_stages(const std::vector<OpId>& order);

/// Returns the names of a stage's operators by group, in order, as in files.
std::vector<std::vector<std::string>> operator_names(const Graph& graph, const Stage& stage);

/// The quality of a schedule: a value, never an error.
enum class Outcome { kOptimal, kFeasible, kInfeasible, kTimeLimit };
std::string_view to_string(Outcome outcome);

/// The quantity that a schedule minimises.
enum class Objective {
  kLatency,     ///< latency of one inference, or of all inputs that are there at once
  kThroughput,  ///< the time from one inference to the next, many being in flight
  kColdStart,   ///< latency of the first inference, when no device holds parameters
};
std::string_view to_string(Objective objective);

/// The prediction for many inferences in flight (hios/evaluate/many_inferences.h).
struct PredictedThroughput {
  double period_ms = 0;       ///< from the end of one inference to the end of the next
  double per_second = 0;      ///< inputs a second, each of a batch counted
  std::string bottleneck;     ///< device with the most expensive block
  std::size_t in_flight = 1;  ///< the fewest buffers of each tensor that the period needs
};

/// The prediction that was made with a schedule.
struct Prediction {
  double latency_ms = 0;             ///< latency of one inference alone on the devices
  std::size_t estimated_stages = 0;  ///< stages whose cost was not measured
  double lower_bound_ms = 0;         ///< lower bound of the objective: the latency, or the period
  std::string bound;                 ///< the name of the bound
  /// The number of ranks with which the costs were measured, where it differs from that of the
  /// devices (hios/profile/extrapolate.h).
  std::optional<std::size_t> measured_ranks = {};
  /// For a schedule for throughput.
  std::optional<PredictedThroughput> throughput = {};
  /// Returns the value of the objective.
  double objective_ms() const { return throughput ? throughput->period_ms : latency_ms; }
  /// Returns (objective − lower bound) / lower bound; 0 where the bound is 0.
  double gap() const {
    return lower_bound_ms > 0 ? (objective_ms() - lower_bound_ms) / lower_bound_ms : 0;
  }
};

/// A schedule with the other contents of its file (schedule_json.h reads and writes them).
struct ScheduleFile {
  std::string graph_name;
  std::string graph_digest;
  std::int64_t batch = 0, height = 0, width = 0;  ///< 0: a research DAG
  Merge merge = Merge::kNone;                     ///< the merge of the model's siblings
  Cuts cuts = {};                                 ///< the cuts of the merged model's operators
  std::string algorithm;
  OwnedJson options = {};  ///< options that differ from the defaults
  Outcome outcome = Outcome::kFeasible;
  double seconds = 0;  ///< the algorithm's own time
  Objective objective = Objective::kLatency;
  std::vector<Device> devices;
  std::vector<Store> stores;  ///< by StoreId, for Schedule::weights; written with it only
  Schedule schedule;
  bool has_prediction = true;  ///< false: the author of the file predicted nothing
  Prediction predicted;
  OwnedJson extra = {};  ///< additions of the author; kept and ignored
};

}  // namespace hios
