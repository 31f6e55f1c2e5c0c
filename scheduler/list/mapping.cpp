#include "scheduler/list/mapping.h"

#include <algorithm>
#include <optional>
#include <utility>

// A search computes thousands of latencies, so edges are stored in the order in which they are
// read; 200 operators take about two microseconds. Several genes move at once because memory may
// hold an exchange but neither half of it: all leave their devices before the first enters its new
// one, so free memory never becomes negative.
//
// Tests: tests/scheduler/list/mapping_test.cpp.

namespace hios::scheduler {

std::vector<OpId> breadth_first_order(const Graph& graph) {
  std::vector<std::size_t> waits(graph.size());
  std::vector<OpId> order;
  order.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    waits[i] = graph.in_edges(OpId(i)).size();
    if (waits[i] == 0) order.emplace_back(i);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const EdgeId e : graph.out_edges(order[next])) {
      const OpId to = graph.edge(e).to;
      if (--waits[to.index()] == 0) order.push_back(to);
    }
  }
  return order;
}

Mapping fastest_mapping(const Graph& graph, const CostModel& costs, std::span<const OpId> order,
                        std::string_view algorithm, const Deadline& deadline) {
  Placement placement(graph, costs);
  Mapping mapping(graph.size());
  for (const OpId op : order) {
    const auto unit = placement.unit(op);
    std::optional<DeviceId> best;
    double best_ms = 0;
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      const DeviceId device(d);
      if (!placement.may_go(op, device)) continue;
      double ms = unit ? 0 : costs.operator_ms(op, device);
      for (std::size_t i = 0; unit && i < placement.units()[*unit].size(); ++i) {
        ms += costs.operator_ms(placement.units()[*unit][i], device);
      }
      if (best && ms >= best_ms) continue;
      best = device;
      best_ms = ms;
    }
    if (!best) {
      const auto packed = pack_operators(graph, costs, algorithm, deadline);
      for (std::size_t i = 0; i < packed.size(); ++i) mapping[i] = *packed[i];
      return mapping;
    }
    placement.place(op, *best);
    mapping[op.index()] = *best;
  }
  return mapping;
}

MappingTimes::MappingTimes(const Graph& graph, const CostModel& costs, std::vector<OpId> order)
    : costs_(&costs),
      order_(std::move(order)),
      finish_ms_(graph.size(), 0),
      free_ms_(costs.platform().size(), 0) {
  if (costs.charges_receivers()) copying_.emplace(graph, costs);
  inputs_.reserve(graph.edge_count());
  for (const OpId op : order_) {
    for (const EdgeId e : graph.in_edges(op)) inputs_.push_back({e, graph.edge(e).from});
    inputs_end_.push_back(inputs_.size());
  }
}

double MappingTimes::latency_ms(const Mapping& mapping) {
  if (copying_) {
    copying_->clear();
    for (const OpId op : order_) copying_->place(op, mapping[op.index()]);
    return copying_->latency_ms();
  }
  for (std::size_t d = 0; d < free_ms_.size(); ++d) free_ms_[d] = costs_->launch_ms(DeviceId(d));
  double latency = 0;
  std::size_t input = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::size_t op = order_[i].index();
    const DeviceId device = mapping[op];
    double& free = free_ms_[device.index()];
    for (; input < inputs_end_[i]; ++input) {
      const auto& [edge, from] = inputs_[input];
      const double there =
          finish_ms_[from.index()] + costs_->transfer_ms(edge, mapping[from.index()], device);
      free = std::max(free, there);
    }
    free += costs_->operator_ms(order_[i], device);
    finish_ms_[op] = free;
    latency = std::max(latency, free);
  }
  return latency;
}

Schedule MappingTimes::schedule(const Mapping& mapping) const {
  std::vector<std::vector<OpId>> lists(costs_->platform().size());
  for (const OpId op : order_) lists[mapping[op.index()].index()].push_back(op);
  Schedule schedule;
  for (const auto& list : lists) schedule.devices.push_back(one_operator_stages(list));
  return schedule;
}

Genes::Genes(const Graph& graph, const CostModel& costs, Mapping start)
    : labels_(graph, costs), mapping_(std::move(start)) {
  Placement taken = labels_;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op(i);
    taken.place(op, mapping_[i]);
    const auto unit = labels_.unit(op);
    if (unit && labels_.units()[*unit].front() != op) continue;
    Gene gene{op, labels_.bytes(op), {}};
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      if (labels_.may_go(op, DeviceId(d))) gene.choices.emplace_back(d);
    }
    if (gene.choices.size() > 1) genes_.push_back(std::move(gene));
  }
  for (std::size_t d = 0; taken.limited() && d < costs.platform().size(); ++d) {
    room_.push_back(taken.room(DeviceId(d)));
  }
}

void Genes::put(const Gene& gene, DeviceId device) {
  const auto unit = labels_.unit(gene.leader);
  if (!unit) mapping_[gene.leader.index()] = device;
  for (std::size_t i = 0; unit && i < labels_.units()[*unit].size(); ++i) {
    mapping_[labels_.units()[*unit][i].index()] = device;
  }
}

bool Genes::move(std::span<const Move> moves) {
  const auto limited = [&](DeviceId device) {
    return !room_.empty() && room_[device.index()] != Placement::kNoLimit;
  };
  for (const Move& move : moves) {
    if (limited(device(move.gene))) room_[device(move.gene).index()] += genes_[move.gene].bytes;
  }
  std::size_t held = 0;
  for (; held < moves.size(); ++held) {
    if (!limited(moves[held].to)) continue;
    Bytes& room = room_[moves[held].to.index()];
    if (genes_[moves[held].gene].bytes > room) break;
    room -= genes_[moves[held].gene].bytes;
  }
  if (held == moves.size()) {
    for (const Move& move : moves) put(genes_[move.gene], move.to);
    return true;
  }
  for (std::size_t i = 0; i < held; ++i) {
    if (limited(moves[i].to)) room_[moves[i].to.index()] += genes_[moves[i].gene].bytes;
  }
  for (const Move& move : moves) {
    if (limited(device(move.gene))) room_[device(move.gene).index()] -= genes_[move.gene].bytes;
  }
  return false;
}

}  // namespace hios::scheduler
