#include "scheduler/split/diagram/diagram_problem.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace hios::scheduler::split {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add_arcs(Work& work, const CostModel& costs, std::span<const std::size_t> places) {
  const Graph& graph = costs.graph();
  const std::size_t devices = work.devices;
  for (std::size_t v = 0; v < work.operators; ++v) {
    std::map<std::size_t, std::vector<double>> inputs;
    for (EdgeId e : graph.in_edges(graph.topological()[v])) {
      std::vector<double>& ms = inputs[places[graph.edge(e).from.index()]];
      ms.resize(devices * devices, 0);
      for (std::size_t a = 0; a < devices; ++a) {
        for (std::size_t b = 0; b < devices; ++b) {
          double& largest = ms[a * devices + b];
          largest = std::max(largest, costs.transfer_ms(e, DeviceId(a), DeviceId(b)));
        }
      }
    }
    for (auto& [from, ms] : inputs) work.arcs.push_back({from, v, std::move(ms)});
  }
}

}  // namespace

Work work_of(const CostModel& costs) {
  const Graph& graph = costs.graph();
  Work work;
  work.operators = graph.size();
  work.devices = costs.platform().size();
  work.head.assign(graph.size() * work.devices, 0);
  work.tail = work.head;
  std::map<std::string, std::size_t> labels;
  std::vector<std::size_t> places(graph.size());
  double bytes = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const OpId id = graph.topological()[v];
    const Operator& op = graph.op(id);
    places[id.index()] = v;
    for (std::size_t d = 0; d < work.devices; ++d) {
      const bool runs = costs.can_run(id, DeviceId(d));
      work.time.push_back(runs ? costs.operator_ms(id, DeviceId(d)) : kInfinity);
    }
    work.label.push_back(op.colocate.empty()
                             ? Work::kNoLabel
                             : labels.try_emplace(op.colocate, labels.size()).first->second);
    work.bytes.push_back(static_cast<double>(op.memory_bytes) +
                         static_cast<double>(op.parameter_bytes));
    bytes += work.bytes.back();
  }
  work.labels = labels.size();
  for (std::size_t d = 0; d < work.devices; ++d) {
    const auto limit = static_cast<double>(costs.platform().device(DeviceId(d)).memory_bytes);
    work.memory.push_back(limit == 0 || limit >= bytes ? kInfinity : limit);
  }
  add_arcs(work, costs, places);
  return work;
}

Work mirrored(const Work& work) {
  const std::size_t n = work.operators, devices = work.devices;
  Work turned = work;
  for (std::size_t v = 0; v < n; ++v) {
    const std::size_t u = n - 1 - v;
    for (std::size_t d = 0; d < devices; ++d) {
      turned.time[turned.at(u, d)] = work.time[work.at(v, d)];
      turned.head[turned.at(u, d)] = work.tail[work.at(v, d)];
      turned.tail[turned.at(u, d)] = work.head[work.at(v, d)];
    }
    turned.label[u] = work.label[v];
    turned.bytes[u] = work.bytes[v];
  }
  for (Work::Arc& arc : turned.arcs) {
    const std::size_t from = n - 1 - arc.to;
    arc.to = n - 1 - arc.from;
    arc.from = from;
    for (std::size_t a = 0; a < devices; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        std::swap(arc.ms[a * devices + b], arc.ms[b * devices + a]);
    }
  }
  std::sort(turned.arcs.begin(), turned.arcs.end(), [](const Work::Arc& a, const Work::Arc& b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
  return turned;
}

Work some_of(const Work& work, std::span<const std::size_t> operators) {
  Work some;
  some.operators = operators.size();
  some.devices = work.devices;
  some.labels = work.labels;
  some.memory = work.memory;
  std::vector<std::size_t> places(work.operators, work.operators);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const std::size_t v = operators[i];
    places[v] = i;
    for (std::size_t d = 0; d < work.devices; ++d) {
      some.time.push_back(work.time[work.at(v, d)]);
      some.head.push_back(work.head[work.at(v, d)]);
      some.tail.push_back(work.tail[work.at(v, d)]);
    }
    some.label.push_back(work.label[v]);
    some.bytes.push_back(work.bytes[v]);
  }
  for (const Work::Arc& arc : work.arcs) {
    const std::size_t from = places[arc.from], to = places[arc.to];
    if (from < operators.size() && to < operators.size()) some.arcs.push_back({from, to, arc.ms});
  }
  return some;
}

void follow_paths(Work& work) {
  const std::size_t devices = work.devices;
  for (const Work::Arc& arc : work.arcs) {
    for (std::size_t b = 0; b < devices; ++b) {
      double least = kInfinity;
      for (std::size_t a = 0; a < devices; ++a) {
        const std::size_t u = work.at(arc.from, a);
        least = std::min(least, work.head[u] + work.time[u] + arc.ms[a * devices + b]);
      }
      double& head = work.head[work.at(arc.to, b)];
      head = std::max(head, least);
    }
  }
  for (std::size_t i = work.arcs.size(); i-- > 0;) {
    const Work::Arc& arc = work.arcs[i];
    for (std::size_t a = 0; a < devices; ++a) {
      double least = kInfinity;
      for (std::size_t b = 0; b < devices; ++b) {
        const std::size_t w = work.at(arc.to, b);
        least = std::min(least, arc.ms[a * devices + b] + work.time[w] + work.tail[w]);
      }
      double& tail = work.tail[work.at(arc.from, a)];
      tail = std::max(tail, least);
    }
  }
}

}  // namespace hios::scheduler::split
