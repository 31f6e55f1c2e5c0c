#include "scheduler/milp/milp.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/best/best.h"
#include "scheduler/milp/cuts.h"
#include "scheduler/milp/solver.h"
#include "scheduler/milp/stages/stage_search.h"

namespace hios::scheduler::milp {

Schedule one_by_one(const Schedule& schedule) {
  Schedule apart;
  for (const std::vector<Stage>& stages : schedule.devices) {
    std::vector<OpId> order;
    for (const Stage& stage : stages) {
      for (const Group& group : stage.groups) order.insert(order.end(), group.begin(), group.end());
    }
    apart.devices.push_back(one_operator_stages(order));
  }
  apart.transfers = schedule.transfers;
  return apart;
}

bool stages_can_gain(const Graph& graph, const CostModel& costs) {
  const auto devices = costs.platform().devices();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (devices[d].streams <= 1) continue;
    const bool measured = costs.configuration(DeviceId(d)) != nullptr;
    if (measured || graph.stage_cost().kind != StageCostRule::Kind::kSerial) return true;
  }
  return false;
}

namespace {

constexpr std::size_t kMostOperators = 1000;  // above, even counting terms takes long

/// Returns an upper bound on the latency: all operators and transfers one after the other, each at
/// its largest cost.
double longest_ms(const Graph& graph, const CostModel& costs) {
  const std::size_t devices = costs.platform().size();
  double sum = 0;
  for (OpId op : graph.topological()) {
    double largest = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      if (costs.can_run(op, DeviceId(d)))
        largest = std::max(largest, costs.operator_ms(op, DeviceId(d)));
    }
    sum += largest;
  }
  for (std::size_t e = 0; e < graph.edge_count(); ++e) {
    double largest = 0;
    for (std::size_t from = 0; from < devices; ++from) {
      for (std::size_t to = 0; to < devices; ++to) {
        largest = std::max(largest, costs.transfer_ms(EdgeId(e), DeviceId(from), DeviceId(to)));
      }
    }
    sum += largest;
  }
  double longest_launch = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    longest_launch = std::max(longest_launch, costs.launch_ms(DeviceId(d)));
  }
  return sum + longest_launch;
}

class Search {
 public:
  Search(const Graph& graph, const CostModel& costs, const MilpOptions& options,
         const Context& context)
      : graph_(graph), costs_(costs), options_(options), context_(context) {
    refuse_size(graph.size() > kMostOperators,
                std::to_string(graph.size()) + " operators make more than");
    // A variable for each operator on each device; the times around them take devices² each.
    const std::size_t devices = costs.platform().size();
    refuse_size(graph.size() * devices > Formulation::kMostTerms, size_text() + " make more than");
    limits_.nodes = options.nodes;
    limits_.deadline = context.deadline;
  }

  MilpResult run() {
    if (find_start() || search_all_stages()) return result_;
    const Horizon horizon(graph_, costs_, latency_ms_);
    if (horizon.infeasible()) refuse_memory();
    Formulation formulation(horizon, costs_, options_.symmetry);
    refuse_size(formulation.too_large(), size_text() + " make more than");
    const double relaxed_ms = tighten(formulation, *options_.solver, limits_);
    if (relaxed_ms > 0) raise_bound(relaxed_ms);
    report("solving");
    std::vector<double> values;
    if (start_) values = formulation.values(*start_, costs_);
    Answer answer = options_.solver->solve(formulation.program(), values, limits_);
    check_answer(answer, formulation.program(), values);
    use_answer(formulation, answer);
    return result_;
  }

 private:
  std::string size_text() const {
    return std::to_string(graph_.size()) + " operators on " +
           std::to_string(costs_.platform().size()) + " devices";
  }

  void refuse_size(bool too_large, const std::string& what) const {
    if (!too_large) return;
    throw InputError("milp is for small problems: " + what + " " +
                     std::to_string(Formulation::kMostTerms) + " terms; use best");
  }

  void report(const std::string& line) const {
    if (context_.progress) context_.progress(line);
  }

  /// Finds a schedule to start from with `best`, if possible, and an upper bound on the latency.
  /// Returns true if a known bound proves the schedule optimal, for example if nothing takes any
  /// time.
  bool find_start() {
    best::BestOptions moves;
    moves.starts_take_half = false;  // the deadline is a share already
    moves.iterations = options_.iterations;
    Context half = context_;
    half.deadline = context_.deadline.half();
    try {
      const double bound_ms = bound_of(graph_, costs_, half).ms;
      best::BestResult found = best::search(graph_, costs_, moves, bound_ms, half);
      result_.schedule = std::move(found.schedule);
      result_ms_ = found.latency_ms;
      start_ = one_by_one(result_.schedule);
      latency_ms_ = simulate(graph_, *start_, costs_).latency_ms;
      result_.optimal = result_ms_ <= bound_ms;
      if (result_.optimal) raise_bound(result_ms_);
    } catch (const InputError& refusal) {
      refusal_ = refusal;
      latency_ms_ = longest_ms(graph_, costs_);
    }
    return result_.optimal;
  }

  /// Searches stages of several groups, which the program lacks, where these can gain. Returns true
  /// if that proves the schedule.
  bool search_all_stages() {
    if (!stages_can_gain(graph_, costs_)) return false;
    report("searching stages");
    const StageSearchResult found =
        search_stages(graph_, costs_, result_ms_, {options_.nodes, context_.deadline.half()});
    if (found.shorter) keep_if_shorter(*found.shorter);
    if (!found.complete) return false;
    if (result_ms_ == kInfinity) refuse_memory();
    result_.optimal = true;
    result_.bound = LowerBound{result_ms_ * (1 - kTolerance), "milp by stages"};
    return true;
  }

  void use_answer(const Formulation& formulation, const Answer& answer) {
    if (answer.status == Status::kFailed) report("the solver failed: " + answer.message);
    if (answer.status == Status::kInfeasible) refuse_memory();
    if (!answer.values.empty()) keep_if_shorter(formulation.schedule(answer.values));
    if (result_ms_ == kInfinity) throw *refusal_;  // neither found nor excluded
    if (answer.bound > 0) raise_bound(formulation.ms(answer.bound));
    const double cost_ms = formulation.ms(answer.cost);
    result_.optimal = answer.status == Status::kOptimal && !stages_can_gain(graph_, costs_) &&
                      std::abs(result_ms_ - cost_ms) <= 2 * kTolerance * cost_ms;
    result_.timed_out = !result_.optimal && context_.deadline.expired();
  }

  /// Keeps a schedule if it is valid and shorter than the result. Solvers work to a tolerance.
  void keep_if_shorter(Schedule schedule) {
    if (!validate(graph_, costs_.platform(), schedule).empty()) return;
    const double latency_ms = simulate(graph_, schedule, costs_).latency_ms;
    if (latency_ms >= result_ms_) return;
    result_.schedule = std::move(schedule);
    result_ms_ = latency_ms;
  }

  void raise_bound(double ms) {
    if (stages_can_gain(graph_, costs_)) return;
    ms = std::min(ms * (1 - kTolerance), result_ms_);
    if (!result_.bound || result_.bound->ms < ms)
      result_.bound =
          LowerBound{ms, "milp by " + options_.solver->name + " " + options_.solver->version};
  }

  /// Throws because no schedule exists. A solver cannot prove that none is as short as the start:
  /// the start itself is one.
  [[noreturn]] void refuse_memory() const {
    if (start_) throw std::logic_error("milp: a horizon excludes the schedule that it was made of");
    throw InputError(
        "milp: it is proved that no placement fits the labels and memory of all operators");
  }

  const Graph& graph_;
  const CostModel& costs_;
  const MilpOptions& options_;
  const Context& context_;
  Limits limits_;
  MilpResult result_;
  double result_ms_ = kInfinity;
  std::optional<Schedule> start_;      // one operator per stage
  std::optional<InputError> refusal_;  // why there is no start_
  double latency_ms_ = 0;
};

}  // namespace

MilpResult schedule_exactly(const Graph& graph, const CostModel& costs, const MilpOptions& options,
                            const Context& context) {
  if (graph.size() == 0)
    return {Schedule{{costs.platform().size(), std::vector<Stage>{}}}, true, false, {}};
  return Search(graph, costs, options, context).run();
}

}  // namespace hios::scheduler::milp
