// The inputs of --cut auto: the search makes networks with cuts of its own choice.
#include <algorithm>
#include <set>

#include "cli/flags/model_flags.h"
#include "cli/process/commands.h"
#include "cli/remedies.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "engine/backend/core_shares.h"
#include "engine/backends.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/graph/cuts/cut_operators.h"
#include "hios/graph/cuts/even_cuts.h"
#include "hios/profile/profile_gaps.h"
#include "hios/profile/uncertified.h"

namespace hios::cli {
namespace {

/// Returns the numbers of cores that a group may have on a device; none for a GPU.
std::set<int> cores_on(const Device& device) {
  return device.threads == 0 ? std::set<int>() : cores_of_groups(device.threads, device.streams);
}

}  // namespace

void ScheduleInputs::read_cuts(const Flags& flags, const Common& common) {
  for (const char* other : {"inputs", "label-parameters", "check", "export-graph"}) {
    if (!flags.given(other)) continue;
    throw InputError("--cut auto chooses cuts, and --" + std::string(other) +
                     " is for a network as it is: give it with --cut SCHEDULE, the schedule that "
                     "has them");
  }
  for (const Objective other : {Objective::kThroughput, Objective::kColdStart}) {
    if (flags.text("objective") != to_string(other)) continue;
    throw InputError("--cut auto plans for the latency of one inference, not for " +
                     flags.text("objective") +
                     ": leave --objective out, or give --cut FILE with the cuts");
  }
  if (platform_.size() < 2) throw InputError("--cut auto cuts operators over two devices or more");
  cut_shares_ = shares_of_cuts(flags, platform_.size());
  make_cut_ = [model = load_model(flags.text("model"), read_input_size(flags), common.limits,
                                  layer_kernel()),
               element_bytes = platform_.element_bytes(),
               rules = read_fusion(flags, common.limits)](const Cuts& cuts) {
    FusionRules with_cuts = rules;
    with_cuts.cuts = cuts;
    return Network(model, element_bytes, with_cuts);
  };
}

/// Returns the even cuts of operators whose shards each device's measurements have, and give the
/// bits of the whole operator.
Cuts ScheduleInputs::certified_cuts() const {
  Cuts cuts = even_cuts(network_->model, network_->coarse, cut_shares_);
  if (!profile_) return cuts;
  const Network all = make_cut_(cuts);
  std::set<std::string> lacking, unmeasured;  // by the names of operators
  for (std::size_t d = 0; d < platform_.size(); ++d) {
    const Configuration* const measured = profile_->find(platform_, DeviceId(d));
    if (measured == nullptr) continue;  // the costs of the whole network say so
    require_certified_cores(all.model.name(), cores_on(platform_.device(DeviceId(d))), *measured,
                            profile_->file);
    for (const CutOperator& cut : cut_operators(all.coarse, all.model)) {
      for (const ShardOperator& shard : cut.shards) {
        const std::string& signature = all.coarse.graph.op(shard.op).signature;
        const bool is_there = measured->operators.contains(signature);
        if (!is_there || is_uncertified(signature, *measured)) lacking.insert(cut.name);
        if (!is_there && !is_uncertified(signature, *measured)) unmeasured.insert(cut.name);
      }
    }
  }
  const std::size_t all_cuts = cuts.size();
  std::erase_if(cuts, [&](const Cut& cut) { return lacking.contains(cut.op); });
  const std::string shards = std::to_string(cut_shares_.size()) + " shards";
  const std::string remedy =
      measurement_command(measurement_of(DeviceId(0), platform_, profile_->file, graph()),
                          model_words_(graph()), invocation());
  if (all_cuts > 0 && cuts.empty()) {
    throw InputError(printable(profile_->file, 200) + ": no operator was measured in " + shards +
                     ", or none gives the bits of its whole then; measure them with: " + remedy);
  }
  if (!unmeasured.empty()) {
    log::warning(printable(profile_->file, 200) + ": " + std::to_string(unmeasured.size()) +
                 " of " + std::to_string(all_cuts) + " operators were not measured in " + shards +
                 ", and stay whole; measure them with: " + remedy);
  }
  return cuts;
}

void ScheduleInputs::require_certified_cuts() const {
  if (!network_ || network_->cuts.empty() || !profile_) return;
  for (std::size_t d = 0; d < platform_.size(); ++d) {
    const Configuration* const measured = profile_->find(platform_, DeviceId(d));
    if (measured == nullptr) continue;
    require_certified(graph(), *measured, profile_->file);
    require_certified_cores(network_->model.name(), cores_on(platform_.device(DeviceId(d))),
                            *measured, profile_->file);
  }
}

scheduler::Problem ScheduleInputs::cuttable_problem() {
  const CostModel& whole = costs();
  cuttable_ = {&*network_, &whole, certified_cuts(), make_cut_,
               [this](const Graph& graph) { return costs_of(graph); }};
  return scheduler::Problem(cuttable_);
}

}  // namespace hios::cli
