#include "scheduler/algorithms/list/peft.h"

#include <algorithm>
#include <queue>

#include "scheduler/deadline.h"
#include "scheduler/list/earliest_finish.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// The table costs O(M·E): for a consumer w on another device only the least time counts, which is
// one number an operator: min over q of OCT(w, q) + t(w, q).
//
// Tests: tests/scheduler/algorithms/list/heft_test.cpp (the table by its definition),
// tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// Returns, by operator, the mean over the devices that can run it.
std::vector<double> mean_costs(const std::vector<double>& table, std::size_t operators,
                               std::size_t devices) {
  std::vector<double> means(operators);
  for (std::size_t i = 0; i < operators; ++i) {
    double sum = 0;
    std::size_t able = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      const double cost = table[i * devices + d];
      if (cost == kInfinity) continue;
      sum += cost;
      ++able;
    }
    means[i] = sum / static_cast<double>(able);
  }
  return means;
}

/// Operators whose producers are all taken, by descending rank.
class ReadyOperators {
 public:
  ReadyOperators(const Graph& graph, const std::vector<double>& ranks)
      : graph_(graph), pending_inputs_(graph.size()), keys_(graph.size()) {
    const auto topological = graph.topological();
    for (std::size_t i = 0; i < topological.size(); ++i) {
      const OpId op = topological[i];
      pending_inputs_[op.index()] = graph.in_edges(op).size();
      keys_[op.index()] = {ranks[op.index()], -static_cast<long>(i)};
      if (pending_inputs_[op.index()] == 0) ready_.emplace(keys_[op.index()], op);
    }
  }

  bool empty() const { return ready_.empty(); }
  OpId take() {
    const OpId op = ready_.top().second;
    ready_.pop();
    for (const EdgeId e : graph_.out_edges(op)) {
      const OpId to = graph_.edge(e).to;
      if (--pending_inputs_[to.index()] == 0) ready_.emplace(keys_[to.index()], to);
    }
    return op;
  }

 private:
  using Key = std::pair<double, long>;  // rank; the first in topological order is the greatest
  const Graph& graph_;
  std::vector<std::size_t> pending_inputs_;  // by operator
  std::vector<Key> keys_;
  std::priority_queue<std::pair<Key, OpId>> ready_;
};

}  // namespace

std::vector<double> optimistic_costs(const Graph& graph, const CostModel& costs,
                                     const std::function<double(OpId, DeviceId)>& toll_ms) {
  const std::size_t devices = costs.platform().size();
  const auto own_ms = [&](OpId op, DeviceId device) {
    return costs.operator_ms(op, device) + (toll_ms ? toll_ms(op, device) : 0);
  };
  std::vector<double> table(graph.size() * devices, 0);
  std::vector<double> anywhere(
      graph.size());  // least over devices of operator's time plus table entry
  const auto topological = graph.topological();
  for (std::size_t i = topological.size(); i-- > 0;) {
    const OpId op = topological[i];
    double* const row = &table[op.index() * devices];
    for (const EdgeId e : graph.out_edges(op)) {
      const OpId to = graph.edge(e).to;
      const double elsewhere = anywhere[to.index()] + costs.mean_transfer_ms(e);
      for (std::size_t d = 0; d < devices; ++d) {
        const double here = table[to.index() * devices + d] + own_ms(to, DeviceId(d));
        row[d] = std::max(row[d], std::min(here, elsewhere));
      }
    }
    double least = kInfinity;
    for (std::size_t d = 0; d < devices; ++d) {
      if (!costs.can_run(op, DeviceId(d))) row[d] = kInfinity;
      least = std::min(least, row[d] + own_ms(op, DeviceId(d)));
    }
    anywhere[op.index()] = least;
  }
  return table;
}

TimedSchedule schedule_peft(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  const std::size_t devices = costs.platform().size();
  const std::vector<double> table = optimistic_costs(graph, costs);
  ReadyOperators ready(graph, mean_costs(table, graph.size(), devices));
  EarliestFinish placed(graph, costs);
  for (std::size_t count = 0; !ready.empty(); ++count) {
    if (deadline.expired_at(count, kOperatorsPerCheck)) {
      return {list_schedule(graph, costs, priority_order(graph, costs), placed.devices()), true};
    }
    const OpId op = ready.take();
    const double* const row = &table[op.index() * devices];
    if (placed.place(op, [row](DeviceId device) { return row[device.index()]; })) continue;
    const auto packed = pack_operators(graph, costs, "peft", deadline);
    return {list_schedule(graph, costs, priority_order(graph, costs), packed), false};
  }
  return {placed.schedule(), false};
}

}  // namespace hios::scheduler
