#include "cli/schedule/objective.h"

#include <string>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"

namespace hios::cli {

Objective read_objective(const Flags& flags, const ScheduleInputs& inputs) {
  const std::string name = flags.text("objective");
  if (name == to_string(Objective::kLatency)) return Objective::kLatency;
  if (name != to_string(Objective::kThroughput)) {
    throw InputError("--objective takes latency or throughput, not " + quote(name) +
                     did_you_mean(name, {"latency", "throughput"}));
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
  return Objective::kThroughput;
}

}  // namespace hios::cli
