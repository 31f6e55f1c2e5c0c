#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "hios/base/error.h"
#include "hios/base/json/options.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// A row of a comparison: one algorithm's schedule of a problem, with its predicted timeline in
/// numbers. Copies share graph and costs.
struct Row {
  std::string algorithm = {};
  /// The reason why the algorithm refused the problem; everything else but the name is empty then.
  std::optional<InputError> refusal = {};
  bool requested = true;  ///< false: data parallelism, which compare() adds
  /// The graph that it schedules, which may divide the inputs, and whose operators may be cut;
  /// null: the row has no schedule.
  std::shared_ptr<const Graph> graph = {};
  std::shared_ptr<const CostModel> costs = {};  ///< costs of that graph
  Schedule schedule = {};
  Options options = {};                       ///< the parameters that made the schedule
  Objective objective = Objective::kLatency;  ///< the objective that the schedule was made for
  Outcome outcome = Outcome::kFeasible;
  /// One sentence where the schedule is not what the options ask for; else empty.
  std::string warning = {};
  double seconds = 0;         ///< the algorithm's time, by the deadline's clock
  Prediction predicted = {};  ///< for the schedule's objective
  /// Where periods are compared: the period, its bound and gap, also of a schedule for latency,
  /// whose `predicted` has the latency's.
  std::optional<Prediction> many = {};
  Cuts cuts = {};  ///< the operators that are cut, where the problem let the search choose
  /// Where it did: what the algorithm makes of the network without cuts.
  std::optional<Prediction> whole = {};
  std::size_t devices_used = 0;
  /// Bytes sent between devices, once a tensor and destination. Empty where the graph does not give
  /// the size of one of them (0 bytes), as in random networks.
  std::optional<Bytes> sent_bytes = 0;
  /// The share of the used devices' time, from the start to the end of the inference, in which they
  /// run no stage: they wait for inputs, or have finished.
  double waiting_share = 0;
  /// The file of a schedule that was given, and that no algorithm here made; empty: one has.
  std::string given = {};

  /// Returns the prediction that rows are compared by.
  const Prediction& compared() const { return many ? *many : predicted; }
};

/// Simulates the row's schedule and fills the numbers of its timeline (the last three). Throws
/// RunError where the schedule breaks a rule. REQUIRES: the row has a graph and its costs.
void describe(Row& row);

/// Returns the number of devices with at least one stage.
std::size_t devices_used(const Schedule& schedule);

}  // namespace hios::scheduler
