#include "scheduler/cold/shared/plan_server.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/bounds/unlimited_costs.h"
#include "scheduler/cold/algorithms.h"
#include "scheduler/cold/bounds/load_bounds.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/cold/shared/keeping_bound.h"
#include "scheduler/cold/shared/keeping_search.h"
#include "scheduler/cold/shared/keepings.h"
#include "scheduler/cold/shared/kept_plans.h"
#include "scheduler/list/requirements.h"

// In turn: cold starts of each model without a keeping, from which those with one are derived
// (kept_plans.h); the bound; the search; then each model's cold starts are searched for each of the
// keepings to compare, equally long. A deadline leaves each step a share of what is left.
//
// Tests: tests/scheduler/cold/shared/plan_server_test.cpp.

namespace hios::scheduler::cold {
namespace {

constexpr std::size_t kBasesOfModel = 2;  // but for the one that is searched
constexpr double kShareOfBases = 0.25, kShareOfServerBound = 0.2, kShareOfSearch = 0.5;

class ServerPlanner {
 public:
  ServerPlanner(const Server& server, const ServerOptions& options, const Context& context,
                std::span<const Algorithm> all)
      : server_(server), options_(options), context_(context), all_(all) {}

  ServerResult plan() {
    KeepingJudge judge(server_, bases());
    ServerResult result;
    report("bound");
    const Deadline of_bound = context_.deadline.share(kShareOfServerBound);
    result.bound_ms = keeping_bound_ms(server_, of_bound);
    note_end(of_bound);
    report("keeping");
    Keeping whole = whole_models(judge), used = first_used(judge);
    const Keeping& better = judge.expected_ms(used) < judge.expected_ms(whole) ? used : whole;
    const Deadline of_search = context_.deadline.share(kShareOfSearch);
    Keeping searched = search_keeping(judge, better, options_.exchanges, context_.seed, of_search);
    note_end(of_search);
    std::vector<std::pair<std::string, Keeping>> ways = {
        {"planned", std::move(searched)},
        {"whole models by share", std::move(whole)},
        {"in order of use", std::move(used)},
        {"nothing", Keeping(server_)}};
    std::size_t left = ways.size();
    for (auto& [name, keeping] : ways) {
      auto plan = planned(judge, name, std::move(keeping), left--);
      if (plan) result.plans.push_back(std::move(*plan));
    }
    take_shortest(result);
    check_bound(result);
    result.timed_out = timed_out_;
    return result;
  }

 private:
  Context within(const Deadline& deadline) const {
    Context context = context_;
    context.deadline = deadline;
    context.progress = {};
    return context;
  }

  /// Notes that a step may have ended early.
  void note_end(const Deadline& deadline) { timed_out_ = timed_out_ || deadline.expired(); }

  void report(const std::string& step) const {
    if (context_.progress) context_.progress("server: " + step);
  }

  std::vector<std::vector<ColdPlan>> bases() {
    std::vector<std::vector<ColdPlan>> bases;
    const std::size_t models = server_.models().size();
    const Deadline all = context_.deadline.share(kShareOfBases);
    for (std::size_t m = 0; m < models; ++m) {
      report("plans of " + server_.graph(m).name());
      const Context context = within(all.share(1.0 / static_cast<double>(models - m)));
      try {
        bases.push_back(bases_of(m, context));
        note_end(context.deadline);
      } catch (const InputError& error) {
        throw InputError("model '" + printable(server_.graph(m).name()) + "': " + error.what(),
                         error.need());
      }
    }
    return bases;
  }

  /// Returns the plan of a search without a keeping, and the shortest of those it starts from.
  std::vector<ColdPlan> bases_of(std::size_t m, const Context& context) {
    const CostModel& costs = *server_.models()[m].costs;
    require_placeable(costs.graph(), costs, "best");
    check_in_place(costs.graph(), UnlimitedCosts(costs).costs());
    const Problem problem(costs, Objective::kColdStart);
    const std::vector<Schedule> starts = start_schedules(problem, context, all_);
    note_end(context.deadline.half());  // that of the starts
    const SearchResult found = search(costs, starts, options_.search, 0, context);
    const PlanProblem plans(costs);
    std::vector<ColdPlan> bases;
    std::vector<std::pair<double, ColdPlan>> ranked;
    if (ColdPlan plan = plan_of(plans, found.schedule); schedule_of(plans, plan)) {
      bases.push_back(std::move(plan));
    }
    for (const Schedule& start : starts) {
      ColdPlan plan = plan_of(plans, start);
      const auto schedule = schedule_of(plans, plan);
      if (schedule) ranked.emplace_back(plans.latency_ms(*schedule), std::move(plan));
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<double, ColdPlan>::first);
    for (auto& [ms, plan] : ranked) {
      if (bases.size() <= kBasesOfModel) bases.push_back(std::move(plan));
    }
    if (bases.empty()) {
      throw InputError(
          "no cold start fits into the memory of the devices without evictions; take devices with "
          "more memory");
    }
    return bases;
  }

  /// Returns nothing where a model has no room next to what the devices keep.
  std::optional<ServerPlan> planned(const KeepingJudge& judge, const std::string& name,
                                    Keeping keeping, std::size_t keepings_left) {
    ServerPlan plan{name, std::move(keeping), {}, 0};
    const std::size_t models = server_.models().size();
    const Deadline all = context_.deadline.share(1.0 / static_cast<double>(keepings_left));
    for (std::size_t m = 0; m < models; ++m) {
      report(name + ", " + server_.graph(m).name());
      const Context context = within(all.share(1.0 / static_cast<double>(models - m)));
      auto model = served(judge, m, plan.keeping, context);
      note_end(context.deadline);
      if (!model) return std::nullopt;
      plan.models.push_back(std::move(*model));
      plan.expected_ms += server_.models()[m].share * plan.models.back().latency_ms;
    }
    return plan;
  }

  std::optional<ServedPlan> served(const KeepingJudge& judge, std::size_t m, const Keeping& keeping,
                                   const Context& context) {
    const CostModel& costs = *server_.models()[m].costs;
    const Held held = keeping.held(m);
    const std::vector<Schedule> starts = kept_schedules(PlanProblem(costs, held), judge.bases(m));
    if (starts.empty()) return std::nullopt;
    const Deadline of_bound = context.deadline.share(kShareOfServerBound);
    const LowerBound bound = cold_start_bound(costs.graph(), costs, of_bound, held.resident);
    note_end(of_bound);
    SearchResult found = search(costs, starts, options_.search, bound.ms, context, held);
    const auto findings =
        validate(costs.graph(), costs.platform(), found.schedule, Objective::kColdStart);
    if (!findings.empty()) {
      throw RunError("the search made a schedule of '" + printable(costs.graph().name()) +
                     "' that breaks a rule: " + findings.front().text);
    }
    const double ms = simulate(costs.graph(), found.schedule, costs).latency_ms;
    const Outcome unproven = found.timed_out ? Outcome::kTimeLimit : Outcome::kFeasible;
    return ServedPlan{std::move(found.schedule), found.optimal ? Outcome::kOptimal : unproven, ms,
                      snap_to_latency(bound, ms)};
  }

  /// Makes the shortest plan the planned one, since the search judges keepings by fewer plans.
  static void take_shortest(ServerResult& result) {
    const auto shortest = std::ranges::min_element(result.plans, {}, &ServerPlan::expected_ms);
    if (shortest == result.plans.begin()) return;
    const std::string name = result.plans.front().name;
    result.plans.front() = *shortest;
    result.plans.front().name = name;
  }

  /// Throws RunError where a plan is shorter than the bound by more than rounding.
  static void check_bound(ServerResult& result) {
    const double least_ms = result.plans.front().expected_ms;
    result.bound_ms = snap_to_latency({result.bound_ms, "keeping"}, least_ms).ms;
    if (result.bound_ms <= least_ms) return;
    throw RunError("the bound of every keeping is above the expected latency of the planned one");
  }

  const Server& server_;
  const ServerOptions& options_;
  const Context& context_;
  std::span<const Algorithm> all_;
  bool timed_out_ = false;
};

}  // namespace

ServerResult plan_server(const Server& server, const ServerOptions& options, const Context& context,
                         std::span<const Algorithm> all) {
  return ServerPlanner(server, options, context, all).plan();
}

}  // namespace hios::scheduler::cold
