#include "support/slow_simulator.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace hios::test {
namespace {

double own_time(const Operator& op, const Device& device) {
  const bool allowed =
      op.allowed.empty() || std::count(op.allowed.begin(), op.allowed.end(), device.name) > 0;
  if (!allowed) return std::numeric_limits<double>::infinity();
  if (op.time_by_device.count(device.name)) return op.time_by_device.at(device.name);
  if (op.time_by_device.count(device.kind)) return op.time_by_device.at(device.kind);
  return op.has_time ? op.time_ms : std::numeric_limits<double>::infinity();
}

}  // namespace

Prices prices_of(const Graph& graph, const Platform& platform) {
  Prices prices;
  prices.stage_ms = [&](const Stage& stage, DeviceId device) {
    double sum = 0, used = 0;
    std::vector<double> lengths;
    for (const Group& group : stage.groups) {
      lengths.push_back(0);
      for (OpId op : group) {
        const double t = own_time(graph.op(op), platform.device(device));
        lengths.back() += t;
        sum += t;
        used += t * graph.op(op).utilization;
      }
    }
    // No device time is no price: 0 · infinity would make a number of nothing below.
    if (sum == std::numeric_limits<double>::infinity()) return sum;
    if (lengths.size() == 1 || graph.stage_cost().kind == StageCostRule::Kind::kSerial) return sum;
    const double longest = *std::max_element(lengths.begin(), lengths.end());
    const double w = graph.stage_cost().weight;
    return w * sum + (1 - w) * std::max(used, longest);
  };
  prices.transfer_ms = [](const Edge& edge, DeviceId from, DeviceId to) {
    return from == to ? 0.0 : edge.transfer_ms.value();
  };
  return prices;
}

Prices prices_of(const CostModel& costs) {
  Prices prices;
  prices.stage_ms = [&](const Stage& stage, DeviceId device) {
    for (const Group& group : stage.groups) {
      for (OpId op : group) {
        if (!costs.can_run(op, device)) return std::numeric_limits<double>::infinity();
      }
    }
    return costs.stage_ms(stage, device);
  };
  prices.transfer_ms = [&](const Edge& edge, DeviceId from, DeviceId to) {
    const Graph& graph = costs.graph();
    const auto index = static_cast<std::size_t>(&edge - graph.edges().data());
    return costs.transfer_ms(EdgeId(index), from, to);
  };
  return prices;
}

std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const Prices& prices) {
  struct Run {
    DeviceId device;
    double cost = 0, start = 0, end = 0;
    std::vector<OpId> operators;
    Run* before = nullptr;
  };
  std::vector<Run> runs;
  std::size_t stages = 0;
  for (const auto& device : schedule.devices) stages += device.size();
  runs.reserve(stages);
  std::map<OpId, Run*> run_of;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    Run* before = nullptr;
    for (const Stage& stage : schedule.devices[d]) {
      Run& run = runs.emplace_back();
      run.device = DeviceId(d);
      run.cost = prices.stage_ms(stage, run.device);
      run.before = before;
      before = &run;
      for (const Group& group : stage.groups) {
        for (OpId op : group) {
          run.operators.push_back(op);
          run_of[op] = &run;
        }
      }
    }
  }
  bool moved = true;
  for (std::size_t round = 0; moved; ++round) {
    if (round > stages + 1) return std::nullopt;
    moved = false;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      double start = run->before ? run->before->end : 0;
      for (const Edge& edge : graph.edges()) {
        if (run_of[edge.to] != &*run || run_of[edge.from] == &*run) continue;
        const Run& from = *run_of[edge.from];
        start = std::max(start, from.end + prices.transfer_ms(edge, from.device, run->device));
      }
      if (start + run->cost != run->end) moved = true;
      run->start = start;
      run->end = start + run->cost;
    }
  }
  double latency = 0;
  for (const Run& run : runs) latency = std::max(latency, run.end);
  return latency;
}

bool runs_to_its_end(const Graph& graph, const Schedule& schedule) {
  std::set<OpId> produced;
  std::vector<std::size_t> next(schedule.devices.size(), 0);
  const auto can_run = [&](const Stage& stage) {
    for (const Group& group : stage.groups) {
      std::set<OpId> there = produced;
      for (OpId op : group) {
        for (EdgeId e : graph.in_edges(op)) {
          if (!there.count(graph.edge(e).from)) return false;
        }
        there.insert(op);
      }
    }
    return true;
  };
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t d = 0; d < next.size(); ++d) {
      while (next[d] < schedule.devices[d].size() && can_run(schedule.devices[d][next[d]])) {
        for (const Group& group : schedule.devices[d][next[d]].groups) {
          produced.insert(group.begin(), group.end());
        }
        ++next[d];
        moved = true;
      }
    }
  }
  return produced.size() == graph.size();
}

}  // namespace hios::test
