#include "scheduler/batches/sized_times.h"

#include <utility>

#include "hios/base/error.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler {

SizedTimes::SizedTimes(const DivisibleProblem& problem) : devices_(problem.platform->size()) {
  const std::int64_t part = problem.graphs->sizes().front();
  for (std::int64_t inputs = part; inputs <= problem.graphs->inputs(); inputs += part) {
    sizes_.push_back(make_size(problem, inputs));
  }
}

SizedTimes::Size SizedTimes::make_size(const DivisibleProblem& problem, std::int64_t inputs) const {
  Size size;
  if (problem.graphs->has(inputs)) add_operators(problem, problem.graphs->of(inputs), size);
  if (devices_ < 2) return size;
  const Graph& whole = *problem.graphs->whole();
  std::vector<Edge> edges;
  for (const Edge& edge : whole.edges()) {
    edges.push_back(sized(edge, inputs, problem.graphs->inputs()));
  }
  const auto operators = whole.operators();
  size.sending = std::make_unique<const Graph>(
      whole.name(), std::vector<Operator>(operators.begin(), operators.end()), std::move(edges));
  try {
    size.transfers = problem.make_costs(*size.sending);
  } catch (const InputError&) {  // no costs at this size
  }
  return size;
}

void SizedTimes::add_operators(const DivisibleProblem& problem, const Graph& graph,
                               Size& size) const {
  try {
    size.operators = problem.make_costs(graph);
    return;
  } catch (const InputError&) {  // some operator has no time: each in a graph of its own
  }
  size.alone_ms.assign(graph.size() * devices_, kInfinity);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const Graph alone(graph.name(), {graph.op(OpId(v))}, {}, graph.stage_cost());
    try {
      const CostModel costs = problem.make_costs(alone);
      for (std::size_t d = 0; d < devices_; ++d) {
        size.alone_ms[v * devices_ + d] = costs.operator_ms(OpId(0), DeviceId(d));
      }
    } catch (const InputError&) {  // no device runs it at this size
    }
  }
}

double SizedTimes::operator_ms(OpId op, std::size_t parts, DeviceId device) const {
  const Size& size = sizes_[parts - 1];
  if (size.operators) return size.operators->operator_ms(op, device);
  if (size.alone_ms.empty()) return kInfinity;
  return size.alone_ms[op.index() * devices_ + device.index()];
}

double SizedTimes::transfer_ms(EdgeId edge, std::size_t parts, DeviceId from, DeviceId to) const {
  if (from == to) return 0;
  const Size& size = sizes_[parts - 1];
  return size.transfers ? size.transfers->transfer_ms(edge, from, to) : kInfinity;
}

}  // namespace hios::scheduler
