#include "cli/schedule/objective.h"

#include <algorithm>
#include <string>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"

namespace hios::cli {
namespace {

void check_cold_start(const ScheduleInputs& inputs) {
  if (inputs.sized()) {
    throw InputError(
        "--objective cold-start runs all inputs at a time: give --batch instead of --inputs");
  }
  if (!inputs.platform().topology()) {
    throw InputError(
        "--objective cold-start needs the stores that keep the parameters, and the routes from "
        "them: give a --platform with \"stores\", \"buses\" and \"routes\" (docs/formats.md), or a "
        "--profile that hios-profile --objective cold-start made");
  }
  const auto operators = inputs.graph().operators();
  if (std::ranges::none_of(operators, [](const Operator& op) { return op.parameter_bytes > 0; })) {
    throw InputError(
        "--objective cold-start: no operator of the graph has parameters (\"parameter_bytes\"), so "
        "there is nothing to load");
  }
}

}  // namespace

Objective read_objective(const Flags& flags, const ScheduleInputs& inputs) {
  const std::string name = flags.text("objective");
  if (name == to_string(Objective::kLatency)) return Objective::kLatency;
  if (name == to_string(Objective::kColdStart)) {
    check_cold_start(inputs);
    return Objective::kColdStart;
  }
  if (name != to_string(Objective::kThroughput)) {
    throw InputError("--objective takes latency, throughput or cold-start, not " + quote(name) +
                     did_you_mean(name, {"latency", "throughput", "cold-start"}));
  }
  if (inputs.sized()) {
    throw InputError(
        "--objective throughput sends whole batches, one after the other: give --batch instead of "
        "--inputs");
  }
  if (inputs.platform().contention() != Contention::kNone) {
    throw InputError(
        "--objective throughput knows no contention yet: leave it out of the --platform (io_charge "
        "gives the time for which transfers occupy a device)");
  }
  if (inputs.platform().topology()) {
    throw InputError(
        "--objective throughput knows no buses yet: give a --platform with links instead of "
        "routes");
  }
  return Objective::kThroughput;
}

}  // namespace hios::cli
