#include "scheduler/cold/sortinghat/efficient_mip.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/cold/loads.h"
#include "scheduler/cold/sortinghat/planned_submodels.h"
#include "scheduler/cold/sortinghat/submodel/submodel_solver.h"
#include "scheduler/cold/sortinghat/submodels.h"
#include "scheduler/list/requirements.h"
#include "scheduler/structures/saturating_sum.h"

// Tarnawski, Phanishayee, Devanur, Mahajan and Paravecino, "Efficient Algorithms for Device
// Placement of DNN Graph Operators", as the SortingHat paper compares with it: model parallelism
// alone. A submodel knows neither when its inputs come nor where they are; only labels and memory
// are kept over submodels, so that the schedule is valid.
//
// Test: tests/scheduler/cold/sortinghat/sortinghat_test.cpp

namespace hios::scheduler::sortinghat {
namespace {

constexpr double kTwiceAsFast = 0.5;

class EfficientMip {
 public:
  EfficientMip(const Problem& problem, const Options& options, const Context& context)
      : problem_(problem),
        graph_(problem.graph()),
        options_(options),
        context_(context),
        solver_(options, context),
        half_(context.deadline.half()),
        paths_(graph_, problem.costs(), {.mean_speeds = true}),
        nothing_(graph_, problem.costs(), paths_, static_cast<std::size_t>(options.integer("q"))),
        used_bytes_(problem.platform().size(), 0),
        held_(problem.platform().size()) {}

  ScheduleResult run() {
    require_equal_devices();
    const std::vector<std::vector<OpId>> parts =
        submodels(graph_, {static_cast<std::size_t>(options_.integer("ndom")),
                           static_cast<std::size_t>(options_.integer("most_operators"))});
    std::vector<std::vector<OpId>> order(problem_.platform().size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SubmodelProblem alone = submodel_alone(parts[i]);
      auto found = SubmodelSolver::greedy(alone, half_);
      if (!found) {
        throw InputError("efficient-mip: labels and memory leave no device for the submodel of '" +
                         printable(graph_.op(parts[i].front()).name) +
                         "'; give devices more memory, or take another algorithm");
      }
      solver_.improve(*found, alone, parts.size() - i);
      fix(alone, found->assignment, order);
    }
    Schedule schedule;
    for (const auto& ops : order) schedule.devices.push_back(one_operator_stages(ops));
    const bool timed_out = context_.deadline.expired();
    return complete(with_loads(std::move(schedule), graph_, problem_.platform()),
                    timed_out ? Outcome::kTimeLimit : Outcome::kFeasible, problem_, options_,
                    context_);
  }

 private:
  /// Throws InputError where devices that can run an operator differ in its time.
  void require_equal_devices() const {
    const CostModel& costs = problem_.costs();
    for (const OpId op : graph_.topological()) {
      std::optional<DeviceId> first;
      for (std::size_t d = 0; d < problem_.platform().size(); ++d) {
        if (!costs.can_run(op, DeviceId(d))) continue;
        if (!first) first = DeviceId(d);
        if (costs.operator_ms(op, DeviceId(d)) == costs.operator_ms(op, *first)) continue;
        throw InputError("efficient-mip is for devices of one speed, and '" +
                         printable(graph_.op(op).name) + "' takes another time on '" +
                         printable(problem_.platform().device(DeviceId(d)).name) + "' than on '" +
                         printable(problem_.platform().device(*first).name) + "'; take sortinghat");
      }
    }
  }

  /// Returns a submodel that nothing comes before. Its operators bring their parameters along: they
  /// count for memory, and nothing else.
  SubmodelProblem submodel_alone(const std::vector<OpId>& operators) const {
    SubmodelProblem alone = nothing_.next(operators);
    std::erase_if(alone.edges, [&](const auto& edge) { return !alone.is_operator(edge.first); });
    alone.parameters.clear();
    alone.bytes.resize(operators.size());
    alone.copy_ms.resize(operators.size());
    for (std::size_t v = 0; v < operators.size(); ++v) {
      alone.operators[v].reads.reset();
      alone.operators[v].in_place_ms = alone.operators[v].loaded_ms;
      alone.bytes[v] = saturating_sum(alone.bytes[v], graph_.op(operators[v]).parameter_bytes);
      for (double& ms : alone.copy_ms[v]) ms *= kTwiceAsFast;
    }
    for (std::size_t d = 0; d < alone.devices; ++d) {
      alone.device_free_ms[d] = 0;
      if (!alone.room_bytes[d]) continue;
      *alone.room_bytes[d] -= std::min(*alone.room_bytes[d], used_bytes_[d]);
    }
    alone.label_on = labels_;
    return alone;
  }

  void fix(const SubmodelProblem& alone, const SubmodelAssignment& assignment,
           std::vector<std::vector<OpId>>& order) {
    for (SubgraphId j = 1; j <= alone.subgraphs(); ++j) {
      const std::size_t device = alone.device_of(j);
      for (std::size_t v = 0; v < alone.operators.size(); ++v) {
        if (assignment.subgraph[v] != j) continue;
        const OpId op = alone.operators[v].op;
        order[device].push_back(op);
        use_bytes(device, graph_.op(op).memory_bytes);
        // Shared parameters are there once.
        const std::string& shared = graph_.op(op).parameters;
        if (shared.empty() || held_[device].insert(shared).second) {
          use_bytes(device, graph_.op(op).parameter_bytes);
        }
        const std::string& label = graph_.op(op).colocate;
        if (!label.empty()) labels_.emplace_back(label, device);
      }
    }
  }

  void use_bytes(std::size_t device, Bytes bytes) {
    used_bytes_[device] = saturating_sum(used_bytes_[device], bytes);
  }

  const Problem& problem_;
  const Graph& graph_;
  const Options& options_;
  const Context& context_;
  const SubmodelSolver solver_;
  const Deadline half_;  ///< of the greedy search
  const Paths paths_;
  const PlannedSubmodels nothing_;           ///< no submodel before
  std::vector<Bytes> used_bytes_;            // by device
  std::vector<std::set<std::string>> held_;  // by device, shared parameters
  std::vector<std::pair<std::string, std::size_t>> labels_;
};

}  // namespace
}  // namespace hios::scheduler::sortinghat

namespace hios::scheduler {

ScheduleResult schedule_efficient_mip(const Problem& problem, const Options& options,
                                      const Context& context) {
  sortinghat::require_solvable(problem, options, "efficient-mip");
  return sortinghat::EfficientMip(problem, options, context).run();
}

}  // namespace hios::scheduler
