#include "scheduler/cold/search/plain_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

// Changes are taken back in all places at once, else in halves, quarters and so on, down to single
// ones: where few of them matter, that takes few simulations. Tests:
// tests/scheduler/cold/plain_plan_test.cpp.

namespace hios::scheduler::cold {
namespace {

class Plainer {
 public:
  Plainer(const PlanProblem& problem, ColdPlan plan, double limit_ms, const Deadline& deadline)
      : problem_(problem), plan_(std::move(plan)), limit_ms_(limit_ms), deadline_(deadline) {}

  ColdPlan plan() && {
    order_stages();
    take_back([](ColdPlan& plan, std::size_t) { plan.lanes_of_route = 1; }, 1);
    take_back([](ColdPlan& plan, std::size_t) { plan.shared_lanes = false; }, 1);
    take_back([](ColdPlan& plan, std::size_t at) { plan.relay[at].reset(); }, plan_.relay.size());
    take_back([](ColdPlan& plan, std::size_t at) { plan.shift[at] = 0; }, plan_.shift.size());
    return std::move(plan_);
  }

 private:
  /// Keeps the plan if it is no longer. Returns false once the deadline has expired.
  bool consider(ColdPlan plan) {
    if (deadline_.expired()) return false;
    const auto schedule = schedule_of(problem_, plan);
    if (schedule && problem_.latency_ms(*schedule) <= limit_ms_) plan_ = std::move(plan);
    return true;
  }

  /// Calls back(plan, place) for all of `places`, then for fewer and fewer.
  template <class Back>
  void take_back(const Back& back, std::size_t places) {
    for (std::size_t length = places; length > 0; length = length == 1 ? 0 : (length + 1) / 2) {
      for (std::size_t begin = 0; begin < places; begin += length) {
        ColdPlan next = plan_;
        for (std::size_t at = begin; at < std::min(begin + length, places); ++at) back(next, at);
        if (!same(next) && !consider(std::move(next))) return;
      }
    }
  }

  bool same(const ColdPlan& next) const {
    return next.relay == plan_.relay && next.shift == plan_.shift &&
           next.lanes_of_route == plan_.lanes_of_route && next.shared_lanes == plan_.shared_lanes;
  }

  /// Orders stages as the graph does, where each has one operator: then none waits for a later one.
  void order_stages() {
    std::vector<std::size_t> position(problem_.graph().size());
    std::size_t next = 0;
    for (const OpId op : problem_.graph().topological()) position[op.index()] = next++;
    const auto first = [&](const PlacedStage& placed) {
      return position[placed.stage.groups.front().front().index()];
    };
    const bool single = std::ranges::all_of(plan_.stages, [](const PlacedStage& placed) {
      return placed.stage.groups.size() == 1 && placed.stage.groups.front().size() == 1;
    });
    if (!single || std::ranges::is_sorted(plan_.stages, {}, first)) return;
    ColdPlan ordered = plan_;
    std::ranges::stable_sort(ordered.stages, {}, first);
    consider(std::move(ordered));
  }

  const PlanProblem& problem_;
  ColdPlan plan_;
  double limit_ms_;
  const Deadline& deadline_;
};

}  // namespace

ColdPlan plainer(const PlanProblem& problem, ColdPlan plan, double limit_ms,
                 const Deadline& deadline) {
  return Plainer(problem, std::move(plan), limit_ms, deadline).plan();
}

}  // namespace hios::scheduler::cold
