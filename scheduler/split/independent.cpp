#include "scheduler/split/independent.h"

#include <memory>
#include <utility>
#include <vector>

#include "hios/evaluate/validate.h"
#include "scheduler/split/modules/components.h"
#include "scheduler/split/modules/subproblem.h"

namespace hios::scheduler::split {
namespace {

void append(Schedule& whole, const Subproblem& module, const Schedule& schedule) {
  for (std::size_t d = 0; d < whole.devices.size(); ++d) {
    for (Stage stage : schedule.devices[d]) {
      for (Group& group : stage.groups) {
        for (OpId& op : group) op = module.whole(op);
      }
      whole.devices[d].push_back(std::move(stage));
    }
  }
}

}  // namespace

std::optional<Schedule> schedule_independently(const CostModel& costs, std::size_t channels,
                                               Prover& prover, std::size_t most) {
  std::vector<std::shared_ptr<const Subproblem>> subproblems;
  for (const auto& module : modules_by_components(costs.graph(), channels, most)) {
    std::vector<Member> members;
    for (OpId op : module) members.push_back({op});
    subproblems.push_back(std::make_shared<const Subproblem>(costs, std::move(members)));
  }
  // The prover solves two at a time.
  const auto rounds = static_cast<double>((subproblems.size() + 1) / 2);
  prover.prove(subproblems, prover.seconds_left() / rounds);
  Schedule whole{{costs.platform().size(), std::vector<Stage>{}}};
  for (const auto& subproblem : subproblems) {
    const Proof* proof = prover.known(*subproblem);
    if (proof->schedule.devices.empty()) return {};
    append(whole, *subproblem, proof->schedule);
  }
  if (!validate(costs.graph(), costs.platform(), whole).empty()) return {};
  return whole;
}

}  // namespace hios::scheduler::split
