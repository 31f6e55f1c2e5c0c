#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"

#include <algorithm>
#include <cmath>

#include "scheduler/structures/saturating_sum.h"

// The MILP's times are those of a longest path over subgraphs: with the assignment given, all of
// (12) to (22) are lower bounds by others. The program's start is computed here, and so is what its
// solution is worth, since solvers work to a tolerance.
//
// A cycle of subgraphs breaks (6) to (8), or is one of two subgraphs that wait for each other. With
// operators that take time, (15) and (19) exclude both; where they take none, the equations as
// printed admit them. Here no cycle has times.

namespace hios::scheduler::sortinghat {
namespace {

class Evaluation {
 public:
  Evaluation(const SubmodelProblem& problem, const SubmodelAssignment& assignment)
      : problem_(problem),
        assignment_(assignment),
        duration_ms_(problem.subgraphs() + 1, 0),
        ready_ms_(problem.subgraphs() + 1, 0),
        used_bytes_(problem.devices, 0),
        after_(problem.subgraphs() + 1),
        waits_(problem.subgraphs() + 1, 0) {}

  std::optional<SubmodelTimes> run() {
    if (!add_loads() || !add_operators() || !add_edges() || !fits()) return {};
    return longest_paths();
  }

 private:
  SubgraphId of(std::size_t node) const { return assignment_.subgraph[node]; }
  bool placed(std::size_t node) const { return problem_.is_fixed(node) || of(node) != kUnplaced; }
  std::size_t device_of(std::size_t node) const {
    return problem_.is_fixed(node) ? problem_.fixed[node - problem_.fixed_node(0)].device
                                   : problem_.device_of(of(node));
  }

  /// Adds (12), (13) and (14). As printed, (13) begins after "DTFin_ParentDT" without its index,
  /// that of the subgraph, and the sum of (14) has two indices: it is over the parameters w.
  bool add_loads() {
    std::vector<double> loads_ms(problem_.subgraphs() + 1, 0);
    for (std::size_t p = 0; p < problem_.parameters.size(); ++p) {
      const SubgraphId j = of(problem_.parameter_node(p));
      if (j == kUnplaced || j == 0) continue;
      loads_ms[j] += problem_.parameters[p].load_ms[problem_.device_of(j)];
      use_bytes(problem_.device_of(j), problem_.parameter_node(p));
    }
    times_.loads_end_ms.assign(problem_.subgraphs() + 1, 0);
    for (std::size_t bus = 0; bus < problem_.bus_free_ms.size(); ++bus) {
      double ms = problem_.bus_free_ms[bus];
      for (const SubgraphId j : problem_.transfer_order(bus)) {
        ms += loads_ms[j];
        times_.loads_end_ms[j] = ms;
      }
      times_.lanes_end_ms += ms;
    }
    return std::isfinite(times_.lanes_end_ms);
  }

  bool add_operators() {
    for (std::size_t v = 0; v < problem_.operators.size(); ++v) {
      if (!placed(v)) continue;
      if (of(v) == 0) return false;  // (4)
      duration_ms_[of(v)] += problem_.operator_ms(v, of(v));
      if (!std::isfinite(duration_ms_[of(v)])) return false;
      use_bytes(device_of(v), v);
      const auto& reads = problem_.operators[v].reads;
      // (5), for each reader by itself: parameters in the store suffice where it reads in place.
      if (reads && !problem_.in_place(of(v)) && !problem_.is_fixed(*reads) && of(*reads) == 0) {
        return false;
      }
    }
    return true;
  }

  /// Adds what subgraphs wait for (19), (20), and copies into them (9), (10): one for each node and
  /// subgraph.
  bool add_edges() {
    std::vector<std::pair<std::size_t, SubgraphId>> into;
    for (const auto& [from, to] : problem_.edges) {
      if (placed(to) && placed(from) && problem_.counts(from, of(to)))
        into.emplace_back(from, of(to));
    }
    std::ranges::sort(into);
    into.erase(std::unique(into.begin(), into.end()), into.end());
    for (const auto& [from, j] : into) {
      if (problem_.is_fixed(from)) {
        const auto& fixed = problem_.fixed[from - problem_.fixed_node(0)];
        ready_ms_[j] = std::max(ready_ms_[j], fixed.finish_ms);
      } else if (problem_.is_parameters(from)) {
        ready_ms_[j] = std::max(ready_ms_[j], times_.loads_end_ms[of(from)]);
      } else if (of(from) != j) {
        after_[of(from)].push_back(j);
        ++waits_[j];
      }
      const std::size_t device = problem_.device_of(j);
      if (device_of(from) == device) continue;
      duration_ms_[j] += problem_.copy(from, device_of(from), device);
      use_bytes(device, from);
    }
    return std::ranges::all_of(duration_ms_, [](double ms) { return std::isfinite(ms); });
  }

  void use_bytes(std::size_t device, std::size_t node) {
    used_bytes_[device] = saturating_sum(used_bytes_[device], problem_.bytes[node]);
  }

  bool fits() const {  // (11)
    for (std::size_t d = 0; d < problem_.devices; ++d) {
      if (problem_.room_bytes[d] && used_bytes_[d] > *problem_.room_bytes[d]) return false;
    }
    return true;
  }

  /// Returns the times by (15) to (19), (21) to (23); nothing where subgraphs form a cycle.
  std::optional<SubmodelTimes> longest_paths() {
    const std::size_t count = problem_.subgraphs(), q = problem_.subgraphs_per_device;
    std::vector<SubgraphId> ready;
    times_.start_ms.assign(count + 1, 0);
    times_.end_ms.assign(count + 1, 0);
    times_.rank.assign(count + 1, 0);
    for (SubgraphId j = 1; j <= count; ++j) {
      const bool first = (j - 1) % q == 0;
      if (first)
        ready_ms_[j] = std::max(ready_ms_[j], problem_.device_free_ms[problem_.device_of(j)]);
      waits_[j] += !first;
      if (waits_[j] == 0) ready.push_back(j);
    }
    std::size_t done = 0;
    for (; done < ready.size(); ++done) {
      const SubgraphId j = ready[done];
      times_.start_ms[j] = ready_ms_[j];
      times_.end_ms[j] = ready_ms_[j] + duration_ms_[j];
      times_.latency_ms = std::max(times_.latency_ms, times_.end_ms[j]);
      const auto arrive = [&](SubgraphId next, std::size_t edge) {
        ready_ms_[next] = std::max(ready_ms_[next], times_.end_ms[j]);
        times_.rank[next] = std::max(times_.rank[next], times_.rank[j] + edge);
        if (--waits_[next] == 0) ready.push_back(next);
      };
      for (const SubgraphId next : after_[j]) arrive(next, 1);
      if (j % q != 0) arrive(j + 1, 0);
    }
    if (done < count) return {};
    return std::move(times_);
  }

  const SubmodelProblem& problem_;
  const SubmodelAssignment& assignment_;
  std::vector<double> duration_ms_, ready_ms_;  // by subgraph
  std::vector<Bytes> used_bytes_;               // by device
  std::vector<std::vector<SubgraphId>> after_;  // by subgraph
  std::vector<std::size_t> waits_;              // by subgraph
  SubmodelTimes times_;
};

}  // namespace

std::vector<SubgraphId> SubmodelProblem::transfer_order(std::size_t bus) const {
  std::vector<SubgraphId> order;
  for (std::size_t turn = 0; turn < subgraphs_per_device; ++turn) {
    for (std::size_t d = 0; d < devices; ++d) {
      if (bus_of[d] == bus) order.push_back(first_of(d) + turn);
    }
  }
  return order;
}

bool SubmodelTimes::better_than(const SubmodelTimes& other) const {
  const double rounding_ms = 1e-9 * (1 + other.latency_ms);
  if (latency_ms < other.latency_ms - rounding_ms) return true;
  return latency_ms <= other.latency_ms + rounding_ms &&
         lanes_end_ms < other.lanes_end_ms - rounding_ms;
}

void drop_unread(const SubmodelProblem& problem, SubmodelAssignment& assignment) {
  std::vector<bool> read(problem.nodes(), false);
  for (std::size_t v = 0; v < problem.operators.size(); ++v) {
    const SubgraphId j = assignment.subgraph[v];
    if (const auto& reads = problem.operators[v].reads; reads && !problem.in_place(j)) {
      read[*reads] = true;
    }
  }
  for (std::size_t p = 0; p < problem.parameters.size(); ++p) {
    const std::size_t node = problem.parameter_node(p);
    if (!read[node]) assignment.subgraph[node] = 0;
  }
}

std::optional<SubmodelTimes> times_of(const SubmodelProblem& problem,
                                      const SubmodelAssignment& assignment) {
  return Evaluation(problem, assignment).run();
}

}  // namespace hios::scheduler::sortinghat
