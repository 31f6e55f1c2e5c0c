#include "scheduler/batches/every_division.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/batches/dependency_bound.h"
#include "scheduler/batches/sized_times.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler {
namespace {

/// The time of a batch that counts for a part of the inputs.
enum class PartTime {
  kShare,  ///< its share of the batch
  kBatch,  ///< all of it: the part does not end earlier
};

/// Returns the least time that a part has in any batch; infinity where the device cannot run it.
double least_ms_of(const SizedTimes& times, OpId op, DeviceId device, PartTime counts) {
  double least_ms = kInfinity;
  for (std::size_t parts = 1; parts <= times.parts(); ++parts) {
    const double share = counts == PartTime::kShare ? 1 / static_cast<double>(parts) : 1;
    least_ms = std::min(least_ms, times.operator_ms(op, parts, device) * share);
  }
  return least_ms;
}

Operator least_operator(const DivisibleProblem& problem, const SizedTimes& times, OpId whole,
                        PartTime counts) {
  Operator op = problem.graphs->whole()->op(whole);
  const auto parts = static_cast<Bytes>(problem.graphs->inputs() / problem.graphs->sizes().front());
  op.memory_bytes /= parts;
  op.parameter_bytes = 0;
  op.has_time = false;
  op.time_by_device.clear();
  op.signature.clear();
  for (std::size_t d = 0; d < problem.platform->size(); ++d) {
    const double ms = least_ms_of(times, whole, DeviceId(d), counts);
    if (std::isfinite(ms)) op.time_by_device[problem.platform->device(DeviceId(d)).name] = ms;
  }
  return op;
}

/// Returns the edge for one part with its least times, by pair of devices: the minimum over all
/// multiples that may be sent, since measured times need not grow with the bytes.
Edge least_edge(const DivisibleProblem& problem, const SizedTimes& times, EdgeId id) {
  const Platform& platform = *problem.platform;
  const SizedGraphs& graphs = *problem.graphs;
  Edge edge = sized(graphs.whole()->edge(id), graphs.sizes().front(), graphs.inputs());
  if (edge.transfer_ms || platform.size() < 2) return edge;
  PairTimes pairs;
  for (std::size_t from = 0; from < platform.size(); ++from) {
    for (std::size_t to = 0; to < platform.size(); ++to) {
      if (from == to) continue;
      double least_ms = kInfinity;
      for (std::size_t parts = 1; parts <= times.parts(); ++parts) {
        least_ms = std::min(least_ms, times.transfer_ms(id, parts, DeviceId(from), DeviceId(to)));
      }
      if (!std::isfinite(least_ms)) continue;
      pairs[platform.device(DeviceId(from)).name][platform.device(DeviceId(to)).name] = least_ms;
    }
  }
  if (pairs.empty()) edge.transfer_ms = 0;  // no size has a cost
  edge.transfer_by_pair = std::make_shared<const PairTimes>(std::move(pairs));
  return edge;
}

/// Returns the graph of one part of the inputs.
Graph one_part(const DivisibleProblem& problem, const SizedTimes& times, PartTime counts) {
  const Graph& whole = *problem.graphs->whole();
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < whole.size(); ++v) {
    operators.push_back(least_operator(problem, times, OpId(v), counts));
  }
  for (std::size_t e = 0; e < whole.edge_count(); ++e) {
    edges.push_back(least_edge(problem, times, EdgeId(e)));
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
  const SizedTimes times(problem);
  const auto bound_by = [&](const Graph& graph) {
    return lower_bound(graph, CostModel::from_graph(graph, *problem.platform), deadline);
  };
  LowerBound bound = bound_by(disjoint_copies(one_part(problem, times, PartTime::kShare), count));
  const LowerBound alone = bound_by(one_part(problem, times, PartTime::kBatch));
  if (alone.ms > bound.ms) bound = {alone.ms, "one part by " + alone.name};
  const double ms = dependency_bound_ms(problem, times);
  return ms > bound.ms ? LowerBound{ms, "dependencies"} : bound;
}

}  // namespace hios::scheduler
