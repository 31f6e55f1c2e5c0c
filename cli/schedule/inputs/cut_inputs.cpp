// The inputs of --cut auto: the search makes networks with cuts of its own choice.
#include "cli/flags/model_flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/base/error.h"
#include "hios/graph/cuts/even_cuts.h"

namespace hios::cli {

void ScheduleInputs::read_cuts(const Flags& flags, const Common& common) {
  for (const char* other : {"inputs", "label-parameters", "check", "export-graph"}) {
    if (!flags.given(other)) continue;
    throw InputError("--cut auto chooses cuts, and --" + std::string(other) +
                     " is for a network as it is: give it with --cut SCHEDULE, the schedule that "
                     "has them");
  }
  if (platform_.size() < 2) throw InputError("--cut auto cuts operators over two devices or more");
  make_cut_ = [model = load_model(flags.text("model"), read_input_size(flags), common.limits),
               element_bytes = platform_.element_bytes(),
               rules = read_fusion(flags, common.limits)](const Cuts& cuts) {
    FusionRules with_cuts = rules;
    with_cuts.cuts = cuts;
    return Network(model, element_bytes, with_cuts);
  };
}

scheduler::Problem ScheduleInputs::cuttable_problem(Objective objective) {
  if (objective != Objective::kLatency) {
    throw InputError("--cut auto plans for the latency of one inference, not for " +
                     std::string(to_string(objective)));
  }
  cuttable_ = {&*network_, &costs(), even_cuts(network_->model, network_->coarse, platform_.size()),
               make_cut_, [this](const Graph& graph) { return costs_of(graph); }};
  return scheduler::Problem(cuttable_);
}

}  // namespace hios::cli
