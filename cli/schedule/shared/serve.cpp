#include "cli/schedule/shared/serve.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process/output.h"
#include "cli/process/stop_request.h"
#include "cli/schedule/shared/keeping_results.h"
#include "cli/schedule/shared/server_inputs.h"
#include "cli/table.h"
#include "hios/base/files/file_io.h"
#include "hios/base/log.h"
#include "hios/schedule/schedule_json.h"

namespace hios::cli {
namespace {

using scheduler::cold::ServedModel;
using scheduler::cold::ServedPlan;
using scheduler::cold::Server;
using scheduler::cold::ServerResult;

Server server_of(ServerInputs& inputs) {
  std::vector<ServedModel> models;
  double sum = 0;
  for (ServedInputs& each : inputs.models) {
    models.push_back({&each.inputs->costs(), each.share});
    sum += each.share;
  }
  if (sum < 1 - 1e-9 || sum > 1 + 1e-9) {
    log::info("--shares sum to " + exact(sum) + ": each is divided by that");
  }
  return Server(std::move(models), inputs.keep_bytes);
}

void write_served_schedule(const ServedInputs& model, const ServedPlan& plan,
                           const ServerInputs& inputs, const Common& common,
                           const std::string& file) {
  ScheduleFile written = model.inputs->blank_file();
  written.algorithm = "best";
  written.options = inputs.options.non_defaults();
  written.outcome = plan.outcome;
  written.objective = Objective::kColdStart;
  written.schedule = plan.schedule;
  written.predicted = {plan.latency_ms, 0, plan.bound.ms, plan.bound.name};
  written.extra["seed"] = common.seed;
  write_json(file, to_json(written, model.inputs->graph()), common.existing);
}

}  // namespace

int serve_models(const Flags& flags, const Common& common, const scheduler::Registry& registry,
                 const Stopwatch& since_start) {
  ServerInputs inputs = read_server(flags, common);
  const Server server = server_of(inputs);
  const StopRequest stop;  // until the results are written
  scheduler::Context context;
  context.seed = common.seed;
  context.deadline = scheduler::Deadline(
      StopRequest::asked, [&] { return since_start.seconds(); },
      flags.number("time-limit", 0, 1e6) - since_start.seconds());
  context.progress = [line = std::make_shared<log::Progress>("models")](std::string_view text) {
    line->show(text);
  };
  const Stopwatch planning;
  const ServerResult result =
      plan_server(server, server_options(inputs.options), context, registry.all());
  const double seconds = planning.seconds();
  context.progress = {};  // ends its line
  for (std::size_t m = 0; m < inputs.models.size(); ++m) {
    const auto file = schedule_file_of(flags, server.graph(m).name());
    if (!file) continue;
    write_served_schedule(inputs.models[m], result.plans.front().models[m], inputs, common, *file);
  }
  show(keeping_text(server, result));
  if (common.csv) write_text(*common.csv, keeping_csv(server, result), common.existing);
  if (common.json) {
    write_json(*common.json, keeping_json(flags, common, inputs, server, result, seconds),
               common.existing);
  }
  if (!StopRequest::asked()) return 0;
  log::info("interrupted by " + signal_name(StopRequest::signal()) + ": the best so far was kept");
  return exit_status_of_signal(StopRequest::signal());
}

}  // namespace hios::cli
