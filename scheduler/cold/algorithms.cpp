#include "scheduler/cold/algorithms.h"

#include <string>
#include <utility>

#include "scheduler/cold/deepplan/deepplan.h"
#include "scheduler/cold/pipelined.h"

namespace hios::scheduler {
namespace {

/// Returns the row of a scheduler that uses one device.
Algorithm of_one_device(std::string name, std::string description, std::vector<OptionSpec> options,
                        ScheduleFunction run) {
  return {.name = std::move(name),
          .description = std::move(description),
          .options = std::move(options),
          .run = std::move(run),
          .many_devices = false,
          .objective = Objective::kColdStart,
          .constraints = std::string(kWantsOneDevice),
          .contention = std::string(kMeetsNoContention)};
}

}  // namespace

std::vector<Algorithm> cold_start_algorithms() {
  const OptionSpec split{"split", std::string("halves"), 0, 0,
                         "deepplan: parameters over the buses of two devices: halves (as "
                         "published), interleaved (in turns), or none"};
  return {of_one_device("load-then-run",
                        "a cold start of one device: all parameters, then the operators in order",
                        {}, load_then_run),
          of_one_device("pipelined",
                        "a cold start of one device: parameters in the order of use, while it runs",
                        {}, pipelined),
          of_one_device("deepplan",
                        "a cold start of one device: loads over two buses, reads in place against "
                        "stalls (DeepPlan)",
                        {split}, deepplan_schedule)};
}

}  // namespace hios::scheduler
