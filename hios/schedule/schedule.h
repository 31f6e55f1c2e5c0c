#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hios/base/json/json_io.h"
#include "hios/graph/fusion/merge_siblings.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios {

/// Operators that run one after the other on one stream.
using Group = std::vector<OpId>;

/// Groups that run at the same time on one device; group g on stream g.
struct Stage {
  std::vector<Group> groups;
  bool operator==(const Stage&) const = default;
  static auto fields(auto& self) { return std::tie(self.groups); }
};

/// A tensor that goes to another device: once to each that needs it.
struct PlannedTransfer {
  OpId producer;  ///< the operator whose output it is
  DeviceId to;
  auto operator<=>(const PlannedTransfer&) const = default;
};

/// Q: for each device of the platform an ordered list of stages (Kundu and Shu, "HIOS", section
/// III-A).
struct Schedule {
  std::vector<std::vector<Stage>> devices;
  /// The order of transfers where links carry one tensor at a time: each link or port keeps it.
  /// Empty: whichever is ready first goes first (hios/evaluate/simulate.h). Else all of them, each
  /// once (transfers_of() in hios/schedule/transfers.h).
  std::vector<PlannedTransfer> transfers = {};

  const std::vector<Stage>& stages(DeviceId id) const { return devices[id.index()]; }
  bool operator==(const Schedule&) const = default;
};

/// One operator a stage, in the order given, on one device.
std::vector<Stage> one_operator_stages(const std::vector<OpId>& order);

/// By group, in order, as files name a stage's operators.
std::vector<std::vector<std::string>> operator_names(const Graph& graph, const Stage& stage);

/// How good is it? A value, never an error.
enum class Outcome { kOptimal, kFeasible, kInfeasible, kTimeLimit };
std::string_view to_string(Outcome outcome);

/// What a schedule is to make short.
enum class Objective {
  kLatency,     ///< of one inference, or of all inputs that are there at once
  kThroughput,  ///< the time from one inference to the next, many being in flight
};
std::string_view to_string(Objective objective);

/// Many inferences in flight (hios/evaluate/many_inferences.h).
struct PredictedThroughput {
  double period_ms = 0;       ///< from the end of one to the end of the next
  double per_second = 0;      ///< inputs, each of a batch counted
  std::string bottleneck;     ///< the device whose block is the most expensive
  std::size_t in_flight = 1;  ///< the fewest places of each tensor that the period needs
};

/// What was predicted when the schedule was made.
struct Prediction {
  double latency_ms = 0;             ///< of one inference with the devices to itself
  std::size_t estimated_stages = 0;  ///< stages whose cost was not measured
  double lower_bound_ms = 0;         ///< of the objective: the latency, or the period
  std::string bound;                 ///< the name of the bound
  /// The number of ranks that the costs were measured with, where it is not that of the devices
  /// (hios/profile/extrapolate.h).
  std::optional<std::size_t> measured_ranks = {};
  /// Of a schedule for throughput.
  std::optional<PredictedThroughput> throughput = {};
  /// What the objective makes short.
  double objective_ms() const { return throughput ? throughput->period_ms : latency_ms; }
  /// (objective − lower bound) / lower bound; 0 where the bound is 0.
  double gap() const {
    return lower_bound_ms > 0 ? (objective_ms() - lower_bound_ms) / lower_bound_ms : 0;
  }
};

/// A schedule with all that its file says about it.
struct ScheduleFile {
  std::string graph_name;
  std::string graph_digest;
  std::int64_t batch = 0, height = 0, width = 0;  ///< 0: a research DAG
  Merge merge = Merge::kNone;                     ///< what the model's siblings had become
  std::string algorithm;
  Json options = Json::object();  ///< what differs from the defaults
  Outcome outcome = Outcome::kFeasible;
  double seconds = 0;  ///< the algorithm's own time
  Objective objective = Objective::kLatency;
  std::vector<Device> devices;
  Schedule schedule;
  bool has_prediction = true;  ///< false: the author of the file predicted nothing
  Prediction predicted;
  Json extra = Json::object();  ///< whatever the author adds; kept, and never read by us
};

/// `hios-schedule`, from JSON. The text names operators; `graph` gives them ids and must have the
/// digest that the file names (an InputError tells both otherwise). Structural messages (unknown
/// operator) carry the JSON path; the rules of a schedule are `validate`'s. Only "graph" (name,
/// digest) and "devices" are needed; the rest has the defaults of ScheduleFile.
ScheduleFile schedule_from_json(const JsonView& root, const Graph& graph);
/// The batches in which a schedule file divides the inputs of its graph, sorted; empty where each
/// operator runs all of them at once, and schedule_from_json() wants the graph itself. Else it
/// wants the graph that divide() makes of them (hios/graph/batches.h). Throws InputError: an
/// operator that the graph does not have, a digest that is not the graph's.
std::vector<Batch> schedule_batches(const JsonView& root, const Graph& whole, std::int64_t inputs);
/// REQUIRES: as many lists of stages as devices.
Json to_json(const ScheduleFile& file, const Graph& graph);

/// The model that a schedule file was made for, readable before any graph is.
struct ScheduleHead {
  std::string graph_name;
  std::int64_t batch = 0, height = 0, width = 0;
  std::vector<Device> devices;
};
ScheduleHead schedule_head(const JsonView& root);

/// Throws InputError with a need::SameMerge where a schedule file was made with the model's
/// siblings merged and this graph is not, or the other way round. A file with this graph's digest
/// is right whatever it says.
void check_merge(const JsonView& root, const Graph& graph, Merge merge);

}  // namespace hios
