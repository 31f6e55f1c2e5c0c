#include "scheduler/pipeline/period_bounds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/evaluate/blocks.h"
#include "hios/graph/arcs.h"
#include "hios/schedule/assignment.h"
#include "scheduler/bounds/graph/shares.h"
#include "scheduler/milp/milp.h"
#include "scheduler/milp/solver.h"
#include "scheduler/pipeline/bounds/down_set_bound.h"
#include "scheduler/pipeline/bounds/exact_bound.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/bounds/superblock_bounds.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr std::array<std::pair<std::string_view, PeriodBound>, 5> kNames{{
    {"simple", PeriodBound::kSimple},
    {"downsets", PeriodBound::kDownSets},
    {"bottleneck", PeriodBound::kBottleneck},
    {"bottleneck-guess", PeriodBound::kBottleneckGuess},
    {"exact", PeriodBound::kExact},
}};

/// Returns, by device, the position of its block in an order in which producers come first.
std::vector<std::size_t> positions_of(const PipelineProblem& problem,
                                      const Assignment& assignment) {
  const Arcs arcs(problem.devices(), [&](const auto& visit) {
    for (const Edge& edge : problem.graph().edges()) {
      const DeviceId from = assignment[edge.from].device, to = assignment[edge.to].device;
      if (from != to) visit(to.index(), from.index());
    }
  });
  return strong_components(arcs);  // no two are in one component; arcs lead to smaller numbers
}

KnownBlocks known_blocks(const PipelineProblem& problem, const Schedule& schedule) {
  const Assignment assignment(problem.graph().size(), schedule);
  const std::vector<std::size_t> position = positions_of(problem, assignment);
  KnownBlocks blocks;
  for (const PipelineVertex& vertex : problem.vertices())
    blocks.block_of.push_back(position[assignment[vertex.ops.front()].device.index()]);
  blocks.class_of.resize(problem.devices());
  for (std::size_t c = 0; c < problem.classes().size(); ++c) {
    for (const DeviceId device : problem.classes()[c].devices)
      blocks.class_of[position[device.index()]] = c;
  }
  return blocks;
}

PeriodBoundResult by_program(PeriodBound which, const PipelineProblem& problem,
                             const LeastCosts& costs, const PeriodKnowledge& known) {
  const std::string name(to_string(which));
  const milp::Solver* const solver = milp::find_solver("any");
  if (solver == nullptr) {
    return {{known.at_least_ms, name},
            "this build has no solver of linear programs (HiGHS or Cbc)"};
  }
  ProgramOptions options{known.at_least_ms, known.known_ms, nullptr, known.deadline};
  KnownBlocks blocks;
  if (known.known != nullptr && which == PeriodBound::kExact) {
    blocks = known_blocks(problem, *known.known);
    options.known = &blocks;
  }
  const auto bound = which == PeriodBound::kBottleneck        ? bottleneck_bound
                     : which == PeriodBound::kBottleneckGuess ? bottleneck_guess_bound
                                                              : exact_bound;
  const ProgramBound found = bound(costs, *solver, options);
  if (!found.failure.empty()) return {{found.ms, name}, solver->name + ": " + found.failure};
  return {{found.ms, name}, found.finished ? "" : "ended early"};
}

PeriodBoundResult by_down_sets(const LeastCosts& costs, const PeriodKnowledge& known) {
  const DownSetBound found =
      down_set_bound(costs, known.at_least_ms, known.known_ms, known.deadline);
  std::string remark;
  if (!found.chain.finished) remark = "ended early";
  if (!found.few && !known.deadline.expired())
    remark = "more than " + std::to_string(kMaxDownSets) + " down-sets";
  return {{found.chain.bound_ms, std::string(to_string(PeriodBound::kDownSets))},
          std::move(remark)};
}

}  // namespace

LowerBound simple_period_bound(const Graph& graph, const CostModel& costs) {
  const Shares shares(graph, costs);
  const std::size_t devices = costs.platform().size();
  double longest_ms = 0, all_ms = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op(i);
    double path_ms = std::numeric_limits<double>::infinity(), work_ms = path_ms;
    for (std::size_t d = 0; d < devices; ++d) {
      if (!costs.can_run(op, DeviceId(d))) continue;
      path_ms = std::min(path_ms, shares.path_ms(op, DeviceId(d)));
      work_ms = std::min(work_ms, shares.work_ms(op, DeviceId(d)));
    }
    longest_ms = std::max(longest_ms, path_ms);
    all_ms += work_ms;
  }
  return {std::max(longest_ms, all_ms / static_cast<double>(devices)), "simple"};
}

std::string_view to_string(PeriodBound bound) {
  return kNames[static_cast<std::size_t>(bound)].first;
}

std::vector<PeriodBound> period_bounds_named(const std::vector<std::string>& names) {
  std::string list = "all";
  std::vector<std::string_view> known_names = {"all"};
  for (const auto& [name, bound] : kNames) {
    list += ", " + std::string(name);
    known_names.emplace_back(name);
  }
  std::vector<bool> wanted(kNames.size(), false);
  for (const std::string& each : names) {
    bool known = false;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (each != "all" && each != kNames[i].first) continue;
      known = wanted[i] = true;
    }
    if (!known) {
      throw InputError(quote(each) + " is no bound of periods; there are " + list +
                       did_you_mean(each, known_names));
    }
  }
  std::vector<PeriodBound> bounds;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (wanted[i]) bounds.push_back(kNames[i].second);
  }
  return bounds;
}

bool proves(const LowerBound& bound, double period_ms) {
  return bound.ms >= period_ms * (1 - 4 * milp::kTolerance);
}

PeriodBoundResult period_bound(PeriodBound which, const Graph& graph, const CostModel& costs,
                               const PeriodKnowledge& known) {
  LowerBound simple = simple_period_bound(graph, costs);
  if (which == PeriodBound::kSimple) return {std::move(simple)};
  PeriodKnowledge more = known;
  more.at_least_ms = std::min(std::max(known.at_least_ms, simple.ms), known.known_ms);
  if (graph.size() == 0) return {{more.at_least_ms, std::string(to_string(which))}};
  const PipelineProblem problem(graph, costs);
  const LeastCosts least(problem);
  return which == PeriodBound::kDownSets ? by_down_sets(least, more)
                                         : by_program(which, problem, least, more);
}

}  // namespace hios::scheduler::pipeline
