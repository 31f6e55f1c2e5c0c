#include "scheduler/batches/every_division.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "hios/base/error.h"

namespace hios::scheduler {
namespace {

/// The least share of a part, by operator of the whole graph and device; infinity where it cannot
/// run.
class LeastShares {
 public:
  explicit LeastShares(const DivisibleProblem& problem)
      : devices_(problem.platform->size()),
        ms_(problem.graphs->whole()->size() * devices_, std::numeric_limits<double>::infinity()) {
    const SizedGraphs& graphs = *problem.graphs;
    for (const std::int64_t size : graphs.sizes()) {
      try {
        update(problem.make_costs(graphs.of(size)),
               static_cast<double>(graphs.sizes().front()) / static_cast<double>(size));
      } catch (const InputError&) {
        update_each(problem, size);
      }
    }
  }

  double ms(OpId op, DeviceId device) const { return ms_[op.index() * devices_ + device.index()]; }

 private:
  void update(const CostModel& costs, double share) {
    for (std::size_t i = 0; i < ms_.size(); ++i) {
      const double ms = costs.operator_ms(OpId(i / devices_), DeviceId(i % devices_));
      ms_[i] = std::min(ms_[i], ms * share);
    }
  }

  /// Updates operators one by one, for a size at which others have no time: each in a graph of its
  /// own.
  void update_each(const DivisibleProblem& problem, std::int64_t size) {
    const Graph& graph = problem.graphs->of(size);
    const double share =
        static_cast<double>(problem.graphs->sizes().front()) / static_cast<double>(size);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const Graph alone(graph.name(), {graph.op(OpId(v))}, {}, graph.stage_cost());
      try {
        const CostModel costs = problem.make_costs(alone);
        for (std::size_t d = 0; d < devices_; ++d) {
          double& least = ms_[v * devices_ + d];
          least = std::min(least, costs.operator_ms(OpId(0), DeviceId(d)) * share);
        }
      } catch (const InputError&) {  // no device runs it at this size
      }
    }
  }

  std::size_t devices_;
  std::vector<double> ms_;
};

Operator least_operator(const DivisibleProblem& problem, const LeastShares& least, OpId whole) {
  Operator op = problem.graphs->whole()->op(whole);
  const auto parts = static_cast<Bytes>(problem.graphs->inputs() / problem.graphs->sizes().front());
  op.memory_bytes /= parts;
  op.parameter_bytes = 0;
  op.has_time = false;
  op.time_by_device.clear();
  op.signature.clear();
  for (std::size_t d = 0; d < problem.platform->size(); ++d) {
    const double ms = least.ms(whole, DeviceId(d));
    if (std::isfinite(ms)) op.time_by_device[problem.platform->device(DeviceId(d)).name] = ms;
  }
  return op;
}

/// The least cost of an edge for one part of the inputs, by pair of devices. It is the minimum over
/// all multiples that may be sent, since measured times need not grow with the bytes.
class LeastTransfers {
 public:
  explicit LeastTransfers(const DivisibleProblem& problem)
      : platform_(*problem.platform),
        whole_(*problem.graphs->whole()),
        of_edge_(whole_.edge_count()) {
    if (platform_.size() < 2) return;
    const std::int64_t part = problem.graphs->sizes().front();
    for (std::int64_t size = part; size <= problem.graphs->inputs(); size += part) {
      update(problem, edges_for(problem, size));
    }
  }

  /// Returns the edge for one part, with its times.
  Edge edge(const DivisibleProblem& problem, EdgeId id) const {
    Edge edge = sized(whole_.edge(id), problem.graphs->sizes().front(), problem.graphs->inputs());
    if (edge.transfer_ms || platform_.size() < 2) return edge;
    edge.transfer_by_pair = std::make_shared<const PairTimes>(of_edge_[id.index()]);
    if (of_edge_[id.index()].empty()) edge.transfer_ms = 0;  // no size has a cost
    return edge;
  }

 private:
  std::vector<Edge> edges_for(const DivisibleProblem& problem, std::int64_t size) const {
    std::vector<Edge> edges;
    for (const Edge& edge : whole_.edges()) {
      edges.push_back(sized(edge, size, problem.graphs->inputs()));
    }
    return edges;
  }

  void update(const DivisibleProblem& problem, std::vector<Edge> edges) {
    const auto operators = whole_.operators();
    const Graph graph(whole_.name(), {operators.begin(), operators.end()}, std::move(edges));
    try {
      const CostModel costs = problem.make_costs(graph);
      for (std::size_t e = 0; e < graph.edge_count(); ++e) update(costs, EdgeId(e));
    } catch (const InputError&) {  // no costs at this size
    }
  }

  void update(const CostModel& costs, EdgeId id) {
    for (std::size_t from = 0; from < platform_.size(); ++from) {
      for (std::size_t to = 0; to < platform_.size(); ++to) {
        if (from == to) continue;
        const double ms = costs.transfer_ms(id, DeviceId(from), DeviceId(to));
        auto& times = of_edge_[id.index()][platform_.device(DeviceId(from)).name];
        auto& least = times.emplace(platform_.device(DeviceId(to)).name, ms).first->second;
        least = std::min(least, ms);
      }
    }
  }

  const Platform& platform_;
  const Graph& whole_;
  std::vector<PairTimes> of_edge_;
};

/// Returns the graph of one part of the inputs.
Graph one_part(const DivisibleProblem& problem) {
  const Graph& whole = *problem.graphs->whole();
  const LeastShares shares(problem);
  const LeastTransfers transfers(problem);
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < whole.size(); ++v) {
    operators.push_back(least_operator(problem, shares, OpId(v)));
  }
  for (std::size_t e = 0; e < whole.edge_count(); ++e) {
    edges.push_back(transfers.edge(problem, EdgeId(e)));
  }
  return Graph(whole.name(), std::move(operators), std::move(edges), whole.stage_cost());
}

/// Returns `parts` disjoint copies of the graph.
Graph disjoint_copies(const Graph& part, std::size_t parts) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t first = operators.size();
    for (const Operator& op : part.operators()) {
      operators.push_back(op);
      operators.back().name += " " + std::to_string(p);
    }
    for (const Edge& edge : part.edges()) {
      edges.push_back(edge);
      edges.back().from = OpId(first + edge.from.index());
      edges.back().to = OpId(first + edge.to.index());
    }
  }
  return Graph(part.name(), std::move(operators), std::move(edges), part.stage_cost());
}

/// Returns true if costs come from a profile, by the first size that all operators can run.
bool are_measured(const DivisibleProblem& problem) {
  for (const std::int64_t size : problem.graphs->sizes()) {
    try {
      return problem.make_costs(problem.graphs->of(size)).configuration(DeviceId(0)) != nullptr;
    } catch (const InputError&) {  // try another size
    }
  }
  return false;
}

bool measures_stages(const DivisibleProblem& problem) {
  const auto several = [](const Device& device) { return device.streams > 1; };
  return std::ranges::any_of(problem.platform->devices(), several) && are_measured(problem);
}

}  // namespace

LowerBound bound_of_every_division(const DivisibleProblem& problem, const Deadline& deadline) {
  if (measures_stages(problem)) return {0, "none"};
  const auto count =
      static_cast<std::size_t>(problem.graphs->inputs() / problem.graphs->sizes().front());
  const Graph parts = disjoint_copies(one_part(problem), count);
  return lower_bound(parts, CostModel::from_graph(parts, *problem.platform), deadline);
}

}  // namespace hios::scheduler
