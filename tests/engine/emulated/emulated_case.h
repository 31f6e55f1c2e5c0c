#pragma once

#include <string>

#include "engine/emulated/backend.h"
#include "engine/job/run_job.h"
#include "support/graphs/cold_cases.h"

/// Whole jobs on the emulated machine of a case.
namespace hios::test {

/// Returns what such a job runs, by the case's times multiplied by `scale`.
inline job::RunInputs emulated_inputs(const ColdCase& cold, double scale = 1) {
  job::RunInputs inputs{
      .network = emulated::digest_network(cold.graph, cold.platform.element_bytes()),
      .schedule = {},
      .machine = emulated::machine_of(cold.graph, cold.platform, scale)};
  ScheduleFile& file = inputs.schedule;
  file.graph_name = cold.graph.name();
  file.graph_digest = cold.graph.digest();
  file.algorithm = "of a test";
  file.objective = Objective::kColdStart;
  file.devices = {cold.platform.devices().begin(), cold.platform.devices().end()};
  const auto stores = cold.platform.topology()->stores();
  file.stores = {stores.begin(), stores.end()};
  file.schedule = cold.schedule;
  file.has_prediction = false;
  return inputs;
}

/// Returns the options of one inference, not warmed up.
inline job::RunOptions emulated_options(job::Verify verify) {
  job::RunOptions options;
  options.ranks.table = emulated::table();
  options.ranks.backends = {"emulated"};
  options.ranks.share_cores = true;
  options.protocol = {.warmup = 0, .iterations = 1};
  options.verify = verify;
  return options;
}

}  // namespace hios::test
