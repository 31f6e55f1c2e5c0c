#include "cli/profile/wanted_stages.h"

#include <set>

#include "cli/process/stop_request.h"
#include "engine/host/clock.h"
#include "hios/evaluate/simulate.h"

namespace hios::cli {

namespace {

/// Collects the stages whose costs the model had to estimate.
class Wanted {
 public:
  Wanted(const Graph& graph, CostModel& costs) : graph_(graph) {
    costs.on_unmeasured([this, &costs](const Stage& stage, DeviceId device) {
      add(stage, costs.configuration(device));
    });
  }

  WantedStages take() { return std::move(stages_); }

 private:
  void add(const Stage& stage, const Configuration* lacks) {
    if (keys_[lacks].insert(stage_key(graph_, stage)).second) stages_[lacks].push_back(stage);
  }

  const Graph& graph_;
  std::map<const Configuration*, std::set<StageKey>> keys_;
  WantedStages stages_;
};

}  // namespace

WantedStages wanted_stages(const Graph& graph, const Platform& platform, const Profile& profile,
                           const scheduler::Registry& registry,
                           const std::vector<std::string>& algorithms, double time_limit_s) {
  CostModel costs = CostModel::from_profile(graph, platform, profile);
  Wanted wanted(graph, costs);
  const Stopwatch watch;
  for (const std::string& name : algorithms) {
    const scheduler::Algorithm& algorithm = registry.find(name);
    scheduler::Context context;
    // Without seconds: best would leave half of them to the search that follows its starts.
    context.deadline =
        scheduler::Deadline([&] { return StopRequest::asked() || watch.seconds() > time_limit_s; });
    Options options(algorithm.options);
    // The search of `best` forms no stage without a measurement: only its starts want stages.
    if (options.has("iterations")) options.set("iterations=1");
    algorithm.run(scheduler::Problem(costs), options, context);
  }
  return wanted.take();
}

WantedStages wanted_stages(const Graph& graph, const Platform& platform, const Profile& profile,
                           const Schedule& schedule) {
  CostModel costs = CostModel::from_profile(graph, platform, profile);
  Wanted wanted(graph, costs);
  simulate(graph, schedule, costs);
  return wanted.take();
}

}  // namespace hios::cli
