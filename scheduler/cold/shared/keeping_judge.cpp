#include "scheduler/cold/shared/keeping_judge.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/cold/shared/kept_plans.h"

// A change of a keeping leaves most models as they were: the last few answers of each are kept.

namespace hios::scheduler::cold {
namespace {

constexpr std::size_t kRememberedAnswers = 4;

std::vector<std::size_t> order_of_plan(const Server& server, std::size_t model,
                                       const ColdPlan& plan) {
  std::vector<std::size_t> order;
  std::vector<bool> used(server.sets().size(), false);
  for (const PlacedStage& placed : plan.stages) {
    for (const Group& group : placed.stage.groups) {
      for (const OpId op : group) {
        const auto set = server.parameters(model).of(op);
        if (!set) continue;
        const std::size_t shared = server.shared(model, *set);
        if (!used[shared]) order.push_back(shared);
        used[shared] = true;
      }
    }
  }
  return order;
}

}  // namespace

KeepingJudge::KeepingJudge(const Server& server, std::vector<std::vector<ColdPlan>> bases)
    : server_(&server), bases_(std::move(bases)), recent_(bases_.size()) {
  for (std::size_t m = 0; m < bases_.size(); ++m) {
    order_.push_back(order_of_plan(server, m, bases_[m].front()));
  }
}

double KeepingJudge::latency_ms(std::size_t model, const Keeping& keeping) {
  Held held = keeping.held(model);
  for (std::size_t d = 0; d < held.other_bytes.size(); ++d) {
    if (server_->platform().device(DeviceId(d)).memory_bytes == 0) held.other_bytes[d] = 0;
  }
  std::vector<Judged>& recent = recent_[model];
  const auto known = std::ranges::find_if(recent, [&](const Judged& judged) {
    return judged.held.resident == held.resident && judged.held.other_bytes == held.other_bytes;
  });
  if (known != recent.end()) return known->ms;
  const PlanProblem problem(*server_->models()[model].costs, held);
  double least_ms = std::numeric_limits<double>::infinity();
  for (const Schedule& schedule : kept_schedules(problem, bases_[model])) {
    least_ms = std::min(least_ms, problem.latency_ms(schedule));
  }
  if (recent.size() == kRememberedAnswers) recent.erase(recent.begin());
  recent.push_back({std::move(held), least_ms});
  return least_ms;
}

double KeepingJudge::expected_ms(const Keeping& keeping) {
  double sum_ms = 0;
  for (std::size_t m = 0; m < bases_.size(); ++m) {
    sum_ms += server_->models()[m].share * latency_ms(m, keeping);
  }
  return sum_ms;
}

}  // namespace hios::scheduler::cold
