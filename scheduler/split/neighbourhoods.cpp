#include "scheduler/split/neighbourhoods.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hios/evaluate/validate.h"
#include "scheduler/milp/cuts.h"
#include "scheduler/milp/formulation.h"
#include "scheduler/split/modules/fixed_rest.h"
#include "scheduler/split/modules/modules.h"
#include "scheduler/split/modules/prove.h"
#include "scheduler/split/modules/subproblem.h"

// Ghannane and Abdelfattah, "DiviML", section IV-B2, solve modules with several channels
// independently and add them up. Here each neighbourhood is solved with heads and tails from all
// operators that are fixed around it, so a gain there is a gain of the whole schedule. The borders
// of one sweep are in the middle of the next sweep's neighbourhoods.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kSizes[] = {12, 18, 26, 36};  // operators of a neighbourhood
constexpr double kShare = 0.1;                      // share of the time left for one neighbourhood
constexpr std::int64_t kNodes = 3000;               // nodes of one without any other limit
constexpr double kGain = 1e-7;  // the least gain that counts, as a share of the latency

class NeighbourhoodSearch {
 public:
  NeighbourhoodSearch(const CostModel& costs, Schedule schedule, const SplitOptions& options,
                      const Context& context)
      : costs_(costs), schedule_(std::move(schedule)), options_(options), context_(context) {}

  Schedule run() {
    for (const std::size_t size : kSizes) {
      bool gained = true;
      while (gained && !context_.deadline.expired()) {
        gained = false;
        for (const bool by_start : {false, true}) {
          for (const bool straddling : {false, true}) {
            gained = sweep(size, by_start, straddling) || gained;
          }
        }
      }
      if (size >= costs_.graph().size()) break;
    }
    return std::move(schedule_);
  }

 private:
  /// Solves neighbourhoods from cut to cut or, straddling, from the middle between two cuts to the
  /// next. The cuts are those of the schedule at the sweep's begin. Returns true if any gained.
  bool sweep(std::size_t size, bool by_start, bool straddling) {
    bool gained = false;
    std::optional<FixedRest> rest(std::in_place, costs_, schedule_, by_start);
    std::vector<std::size_t> cuts =
        cuts_along(costs_.graph(), rest->order(), size, options_.channels);
    cuts.insert(cuts.begin(), 0);
    if (straddling) {
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) cuts[i] = (cuts[i] + cuts[i + 1]) / 2;
    }
    for (std::size_t i = 0; i + 1 < cuts.size() && !context_.deadline.expired(); ++i) {
      if (cuts[i] == cuts[i + 1] || !solve(*rest, cuts[i], cuts[i + 1])) continue;
      gained = true;
      rest.emplace(costs_, schedule_, by_start);
    }
    return gained;
  }

  /// Returns true if the schedule has become shorter.
  bool solve(const FixedRest& rest, std::size_t begin, std::size_t end) {
    const double enough_ms = rest.latency_ms() * (1 - kGain);
    if (rest.without_ms(begin, end) >= enough_ms) return false;
    const Subproblem subproblem(costs_, members(rest, begin, end), held(rest, begin, end));
    const std::size_t devices = costs_.platform().size();
    milp::Surroundings around;
    std::vector<std::size_t> device;
    std::vector<double> start_ms;
    for (OpId v : subproblem.graph().topological()) {
      const OpId op = subproblem.whole(v);
      for (std::size_t d = 0; d < devices; ++d) {
        around.head_ms.push_back(rest.head_ms(op, d, begin));
        around.tail_ms.push_back(rest.tail_ms(op, d, end));
      }
      device.push_back(rest.device(op));
      start_ms.push_back(rest.start_ms(op));
    }
    const milp::Horizon horizon(subproblem.graph(), subproblem.costs(), rest.latency_ms(), &around);
    if (horizon.infeasible()) return false;
    milp::Formulation formulation(horizon, subproblem.costs(), milp::Symmetry::kNone);
    if (formulation.too_large()) return false;
    const milp::Limits limits = limited();
    if (tighten(formulation, *options_.solving.solver, limits) >= enough_ms) return false;
    const auto known = formulation.values(device, start_ms, rest.latency_ms());
    milp::Answer answer = options_.solving.solver->solve(formulation.program(), known, limits);
    milp::check_answer(answer, formulation.program(), known);
    if (answer.values.empty()) return false;
    return take(
        rest.replaced(begin, end, in_whole(subproblem, formulation.schedule(answer.values))),
        enough_ms);
  }

  milp::Limits limited() const {
    milp::Limits limits;
    limits.nodes = options_.solving.nodes;
    if (limits.nodes == 0 && !context_.deadline.has_time_limit()) limits.nodes = kNodes;
    limits.deadline = context_.deadline.share(kShare);
    return limits;
  }

  /// Returns the neighbourhood's operators in topological order; one whose label is also outside
  /// stays on its device.
  std::vector<Member> members(const FixedRest& rest, std::size_t begin, std::size_t end) const {
    std::map<std::string, std::size_t> fixed;
    for (std::size_t i = 0; i < rest.order().size(); ++i) {
      const std::string& label = costs_.graph().op(rest.order()[i]).colocate;
      if ((i < begin || i >= end) && !label.empty()) fixed[label] = rest.device(rest.order()[i]);
    }
    std::vector<Member> members;
    for (OpId op : costs_.graph().topological()) {
      const std::size_t at = rest.positions()[op.index()];
      if (at < begin || at >= end) continue;
      members.push_back({op});
      const auto found = fixed.find(costs_.graph().op(op).colocate);
      if (found != fixed.end()) members.back().device = DeviceId(found->second);
    }
    return members;
  }

  std::vector<Bytes> held(const FixedRest& rest, std::size_t begin, std::size_t end) const {
    std::vector<Bytes> held(costs_.platform().size(), 0);
    for (std::size_t i = 0; i < rest.order().size(); ++i) {
      if (i >= begin && i < end) continue;
      const Operator& op = costs_.graph().op(rest.order()[i]);
      held[rest.device(rest.order()[i])] += op.memory_bytes + op.parameter_bytes;
    }
    return held;
  }

  static Schedule in_whole(const Subproblem& subproblem, Schedule schedule) {
    for (auto& stages : schedule.devices) {
      for (Stage& stage : stages) {
        for (Group& group : stage.groups) {
          for (OpId& op : group) op = subproblem.whole(op);
        }
      }
    }
    return schedule;
  }

  bool take(Schedule schedule, double enough_ms) {
    if (!validate(costs_.graph(), costs_.platform(), schedule).empty()) return false;
    if (FixedRest(costs_, schedule, false).latency_ms() >= enough_ms) return false;
    schedule_ = std::move(schedule);
    return true;
  }

  const CostModel& costs_;
  Schedule schedule_;
  const SplitOptions& options_;
  const Context& context_;
};

}  // namespace

Schedule improve_by_neighbourhoods(const CostModel& costs, Schedule schedule,
                                   const SplitOptions& options, const Context& context) {
  return NeighbourhoodSearch(costs, std::move(schedule), options, context).run();
}

}  // namespace hios::scheduler::split
