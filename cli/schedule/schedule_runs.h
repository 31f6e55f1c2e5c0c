#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/schedule/schedule_inputs.h"
#include "engine/host/clock.h"
#include "hios/base/json/options.h"
#include "hios/schedule/schedule.h"
#include "scheduler/scheduler.h"

namespace hios::cli {

/// One algorithm's answer to a problem, and what its simulated timeline says about it.
struct ScheduleRun {
  std::string algorithm = {};
  std::string refusal =
      {};  ///< why the algorithm would not take the problem; the rest is empty then
  ScheduleFile file = {};
  /// Where periods are compared: with the period, its bound and gap, also of a schedule for
  /// latency, whose file says the latency's.
  std::optional<Prediction> many = {};
  /// What it schedules, which may divide the inputs; null: the row is no schedule.
  std::shared_ptr<const Graph> graph = {};
  std::shared_ptr<const CostModel> costs = {};  ///< of that graph
  std::size_t devices_used = 0;
  /// Between devices; once a tensor and destination. Nothing where the graph does not say how large
  /// one of them is (0 bytes), as no random network does.
  std::optional<Bytes> sent_bytes = 0;
  /// The share of the used devices' time, from the start to the end of the inference, in which they
  /// run no stage: they await inputs, or have nothing left to do.
  double waiting_share = 0;
};

/// What rows are compared by.
inline const Prediction& compared(const ScheduleRun& run) {
  return run.many ? *run.many : run.file.predicted;
}

/// An algorithm and the options that it gets.
struct Asked {
  const scheduler::Algorithm* algorithm;
  Options options;
};

/// What every algorithm is lent; its schedule's file says so in `extra`.
struct Lent {
  Objective objective = Objective::kLatency;
  std::uint64_t seed = 0;
  double time_limit_s = 0;
  /// Since the program began: what reading took, and the lower bound after it, is not lent again.
  Stopwatch since_start = {};
};

/// Runs them one after the other, each, if it can end early, for what reading and the lower bound
/// have left of `time_limit_s`, with a progress line on a terminal. The bound gets a quarter of
/// what reading has left. Ctrl-C ends the lower bound before them and the running one, each with
/// what it has, and starts no other; where it comes before the first, that one runs with no time at
/// all, so that there is a schedule. Of several, one may refuse the problem (ScheduleRun::refusal);
/// throws its InputError where none takes it, and RunError if a schedule breaks a rule.
std::vector<ScheduleRun> run_algorithms(const std::vector<Asked>& asked, ScheduleInputs& inputs,
                                        const Lent& lent);

std::size_t devices_used(const Schedule& schedule);

}  // namespace hios::cli
