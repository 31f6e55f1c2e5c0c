#include "cli/schedule/schedule_runs.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/process/stop_request.h"
#include "hios/base/log.h"

namespace hios::cli {

std::vector<scheduler::Row> compare(const scheduler::Problem& problem,
                                    std::span<const scheduler::Request> requests,
                                    const Settings& settings) {
  const Stopwatch& watch = settings.since_start;
  const scheduler::Deadline deadline(
      StopRequest::asked, [&] { return watch.seconds(); }, settings.time_limit_s - watch.seconds());
  const auto progress = [](const std::string& algorithm) {
    return [line = std::make_shared<log::Progress>(algorithm)](std::string_view text) {
      line->show(text);
    };
  };
  std::vector<scheduler::Row> rows = scheduler::compare(
      problem, requests, deadline, {.seed = settings.seed, .progress = progress});
  for (const scheduler::Row& row : rows) {
    if (!row.warning.empty()) log::warning(row.warning);
  }
  return rows;
}

ScheduleFile file_of(const scheduler::Row& row, const ScheduleInputs& inputs,
                     const Settings& settings) {
  ScheduleFile file = inputs.blank_file();
  if (inputs.chooses_cuts()) {
    file.cuts = row.cuts;
    file.graph_digest = row.graph->digest();
  }
  file.algorithm = row.algorithm;
  file.options = row.options.non_defaults();
  file.outcome = row.outcome;
  file.seconds = row.seconds;
  file.objective = row.objective;
  file.schedule = row.schedule;
  file.predicted = row.predicted;
  file.predicted.measured_ranks = inputs.extrapolated_from();
  if (!row.requested) return file;
  file.extra["seed"] = settings.seed;
  file.extra["time_limit_s"] = settings.time_limit_s;
  if (row.whole) {  // what the cuts gain, by the same algorithm
    file.extra["without_cuts"] = {{"latency_ms", row.whole->latency_ms},
                                  {"lower_bound_ms", row.whole->lower_bound_ms},
                                  {"bound", row.whole->bound}};
  }
  return file;
}

}  // namespace hios::cli
