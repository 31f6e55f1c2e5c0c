#include "scheduler/split/diagram/diagram_problem.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::split {
namespace {

void add_arcs(DiagramProblem& problem, const CostModel& costs,
              std::span<const std::size_t> positions) {
  const Graph& graph = costs.graph();
  const std::size_t devices = problem.devices;
  for (std::size_t v = 0; v < problem.operators; ++v) {
    std::map<std::size_t, std::vector<double>> inputs;
    for (EdgeId e : graph.in_edges(graph.topological()[v])) {
      std::vector<double>& ms = inputs[positions[graph.edge(e).from.index()]];
      ms.resize(devices * devices, 0);
      for (std::size_t a = 0; a < devices; ++a) {
        for (std::size_t b = 0; b < devices; ++b) {
          double& largest = ms[a * devices + b];
          largest = std::max(largest, costs.transfer_ms(e, DeviceId(a), DeviceId(b)));
        }
      }
    }
    for (auto& [from, ms] : inputs) problem.arcs.push_back({from, v, std::move(ms)});
  }
}

}  // namespace

DiagramProblem diagram_problem(const CostModel& costs) {
  const Graph& graph = costs.graph();
  DiagramProblem problem;
  problem.operators = graph.size();
  problem.devices = costs.platform().size();
  problem.head.assign(graph.size() * problem.devices, 0);
  problem.tail = problem.head;
  std::map<std::string, std::size_t> labels;
  std::vector<std::size_t> positions(graph.size());
  double bytes = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const OpId id = graph.topological()[v];
    const Operator& op = graph.op(id);
    positions[id.index()] = v;
    for (std::size_t d = 0; d < problem.devices; ++d) {
      const bool runs = costs.can_run(id, DeviceId(d));
      problem.time.push_back(runs ? costs.operator_ms(id, DeviceId(d)) : kInfinity);
    }
    problem.label.push_back(op.colocate.empty()
                                ? DiagramProblem::kNoLabel
                                : labels.try_emplace(op.colocate, labels.size()).first->second);
    problem.bytes.push_back(static_cast<double>(op.memory_bytes) +
                            static_cast<double>(op.parameter_bytes));
    bytes += problem.bytes.back();
  }
  problem.labels = labels.size();
  for (std::size_t d = 0; d < problem.devices; ++d) {
    const auto limit = static_cast<double>(costs.platform().device(DeviceId(d)).memory_bytes);
    problem.memory.push_back(limit == 0 || limit >= bytes ? kInfinity : limit);
  }
  add_arcs(problem, costs, positions);
  return problem;
}

DiagramProblem mirrored(const DiagramProblem& problem) {
  const std::size_t n = problem.operators, devices = problem.devices;
  DiagramProblem turned = problem;
  for (std::size_t v = 0; v < n; ++v) {
    const std::size_t u = n - 1 - v;
    for (std::size_t d = 0; d < devices; ++d) {
      turned.time[turned.at(u, d)] = problem.time[problem.at(v, d)];
      turned.head[turned.at(u, d)] = problem.tail[problem.at(v, d)];
      turned.tail[turned.at(u, d)] = problem.head[problem.at(v, d)];
    }
    turned.label[u] = problem.label[v];
    turned.bytes[u] = problem.bytes[v];
  }
  for (DiagramProblem::Arc& arc : turned.arcs) {
    const std::size_t from = n - 1 - arc.to;
    arc.to = n - 1 - arc.from;
    arc.from = from;
    for (std::size_t a = 0; a < devices; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        std::swap(arc.ms[a * devices + b], arc.ms[b * devices + a]);
    }
  }
  std::sort(turned.arcs.begin(), turned.arcs.end(),
            [](const DiagramProblem::Arc& a, const DiagramProblem::Arc& b) {
              return std::pair(a.to, a.from) < std::pair(b.to, b.from);
            });
  return turned;
}

DiagramProblem restricted_to(const DiagramProblem& problem,
                             std::span<const std::size_t> operators) {
  DiagramProblem some;
  some.operators = operators.size();
  some.devices = problem.devices;
  some.labels = problem.labels;
  some.memory = problem.memory;
  std::vector<std::size_t> positions(problem.operators, problem.operators);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const std::size_t v = operators[i];
    positions[v] = i;
    for (std::size_t d = 0; d < problem.devices; ++d) {
      some.time.push_back(problem.time[problem.at(v, d)]);
      some.head.push_back(problem.head[problem.at(v, d)]);
      some.tail.push_back(problem.tail[problem.at(v, d)]);
    }
    some.label.push_back(problem.label[v]);
    some.bytes.push_back(problem.bytes[v]);
  }
  for (const DiagramProblem::Arc& arc : problem.arcs) {
    const std::size_t from = positions[arc.from], to = positions[arc.to];
    if (from < operators.size() && to < operators.size()) some.arcs.push_back({from, to, arc.ms});
  }
  return some;
}

void tighten_along_paths(DiagramProblem& problem) {
  const std::size_t devices = problem.devices;
  for (const DiagramProblem::Arc& arc : problem.arcs) {
    for (std::size_t b = 0; b < devices; ++b) {
      double least = kInfinity;
      for (std::size_t a = 0; a < devices; ++a) {
        const std::size_t u = problem.at(arc.from, a);
        least = std::min(least, problem.head[u] + problem.time[u] + arc.ms[a * devices + b]);
      }
      double& head = problem.head[problem.at(arc.to, b)];
      head = std::max(head, least);
    }
  }
  for (std::size_t i = problem.arcs.size(); i-- > 0;) {
    const DiagramProblem::Arc& arc = problem.arcs[i];
    for (std::size_t a = 0; a < devices; ++a) {
      double least = kInfinity;
      for (std::size_t b = 0; b < devices; ++b) {
        const std::size_t w = problem.at(arc.to, b);
        least = std::min(least, arc.ms[a * devices + b] + problem.time[w] + problem.tail[w]);
      }
      double& tail = problem.tail[problem.at(arc.from, a)];
      tail = std::max(tail, least);
    }
  }
}

}  // namespace hios::scheduler::split
