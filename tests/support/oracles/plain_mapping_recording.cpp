#include "support/oracles/plain_mapping_recording.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/list/priorities.h"
#include "scheduler/list/timeline.h"
#include "scheduler/structures/numbers.h"

// Kundu and Shu, HIOS, Alg. 3; every history is read back in full, once per row and device:
// O(n²·M). The oracle of scheduler/algorithms/hios/mapping_recording.

namespace hios::test {
namespace {

using scheduler::kInfinity;
using scheduler::list_schedule;
using scheduler::priority_order;

struct Entry {
  double finish_ms = kInfinity;
  DeviceId previous;  ///< device of v_{i−1}; REQUIRES: finish_ms is finite and i > 0
};

/// The decisions for v_1 … v_i, read back from the entry of v_i.
struct History {
  std::vector<DeviceId> device;  // by operator
  std::vector<double> finish_ms;
  std::vector<double> free_ms;  // by device: the last finish there
};

class MappingTable {
 public:
  MappingTable(const Graph& graph, const CostModel& costs)
      : graph_(graph),
        costs_(costs),
        devices_(costs.platform().size()),
        order_(priority_order(graph, costs)),
        table_(graph.size() * devices_) {
    history_.device.resize(graph.size());
    history_.finish_ms.resize(graph.size());
  }

  std::size_t rows() const { return order_.size(); }

  void fill_row(std::size_t i) {
    const OpId op = order_[i];
    if (i == 0) {
      for (std::size_t j = 0; j < devices_; ++j) {
        if (equal_devices_before(j) > 0) continue;
        entry(0, j).finish_ms = costs_.operator_ms(op, DeviceId(j));
      }
      return;
    }
    for (std::size_t k = 0; k < devices_; ++k) {
      if (entry(i - 1, k).finish_ms == kInfinity) continue;
      read_back(i - 1, DeviceId(k));
      for (std::size_t j = 0; j < devices_; ++j) {
        if (!costs_.can_run(op, DeviceId(j)) || equal_devices_before(j) > i) continue;
        const double finish =
            earliest_start_ms(op, DeviceId(j)) + costs_.operator_ms(op, DeviceId(j));
        if (finish < entry(i, j).finish_ms) entry(i, j) = {finish, DeviceId(k)};
      }
    }
  }

  /// Returns the devices of the first `count` operators of the order in the best history of its
  /// last row.
  std::vector<std::optional<DeviceId>> best_mapping(std::size_t count,
                                                    scheduler::LastRow last_row) {
    std::vector<std::optional<DeviceId>> mapping(graph_.size());
    if (count == 0) return mapping;
    std::pair<double, double> least{kInfinity, kInfinity};
    DeviceId best;
    for (std::size_t j = 0; j < devices_; ++j) {
      const double finish = entry(count - 1, j).finish_ms;
      if (finish == kInfinity) continue;
      read_back(count - 1, DeviceId(j));
      const double latency =
          last_row == scheduler::LastRow::kPaper
              ? finish
              : *std::max_element(history_.free_ms.begin(), history_.free_ms.end());
      if (std::pair(latency, finish) < least) {
        least = {latency, finish};
        best = DeviceId(j);
      }
    }
    read_back(count - 1, best);
    for (std::size_t i = 0; i < count; ++i) {
      mapping[order_[i].index()] = history_.device[order_[i].index()];
    }
    return mapping;
  }

  const std::vector<OpId>& order() const { return order_; }

 private:
  Entry& entry(std::size_t i, std::size_t j) { return table_[i * devices_ + j]; }

  /// Returns the number of earlier devices on which all operators take as long as on this one.
  std::size_t equal_devices_before(std::size_t device) const {
    std::size_t count = 0;
    for (std::size_t d = 0; d < device; ++d) {
      bool equal = true;
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        equal = equal && costs_.operator_ms(OpId(i), DeviceId(d)) ==
                             costs_.operator_ms(OpId(i), DeviceId(device));
      }
      count += equal;
    }
    return count;
  }

  void read_back(std::size_t last, DeviceId device) {
    history_.free_ms.assign(devices_, 0);
    for (std::size_t i = last + 1; i-- > 0;) {
      const Entry& decided = entry(i, device.index());
      history_.device[order_[i].index()] = device;
      history_.finish_ms[order_[i].index()] = decided.finish_ms;
      double& free = history_.free_ms[device.index()];
      free = std::max(free, decided.finish_ms);
      device = decided.previous;
    }
  }

  double earliest_start_ms(OpId op, DeviceId device) const {
    double start = history_.free_ms[device.index()];
    for (EdgeId e : graph_.in_edges(op)) {
      const std::size_t input = graph_.edge(e).from.index();
      start = std::max(
          start, history_.finish_ms[input] + costs_.transfer_ms(e, history_.device[input], device));
    }
    return std::max(start, copied_ms(op, device));
  }

  /// Returns the time at which the device has copied the tensors that no earlier operator read
  /// there.
  double copied_ms(OpId op, DeviceId device) const {
    std::map<OpId, std::pair<double, double>> messages;  // by producer: arrival, copy
    const auto position = [&](OpId o) { return std::find(order_.begin(), order_.end(), o); };
    for (EdgeId e : graph_.in_edges(op)) {
      const OpId input = graph_.edge(e).from;
      const DeviceId from = history_.device[input.index()];
      if (from == device) continue;
      double had = 0;
      for (EdgeId other : graph_.out_edges(input)) {
        const OpId reader = graph_.edge(other).to;
        const bool earlier = position(reader) < position(op);
        if (!earlier || history_.device[reader.index()] != device) continue;
        had = std::max(had, costs_.receive_ms(other, from, device));
      }
      auto& [arrival, ms] = messages[input];
      arrival = std::max(arrival,
                         history_.finish_ms[input.index()] + costs_.transfer_ms(e, from, device));
      ms = std::max(ms, costs_.receive_ms(e, from, device) - had);
    }
    std::vector<std::pair<double, double>> copies;
    for (const auto& [input, message] : messages) copies.push_back(message);
    std::sort(copies.begin(), copies.end());
    double free = history_.free_ms[device.index()];
    for (const auto& [arrival, ms] : copies) {
      if (ms > 0) free = std::max(arrival, free + ms);
    }
    return free;
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::size_t devices_;
  std::vector<OpId> order_;
  std::vector<Entry> table_;  // row × device
  History history_;
};

}  // namespace

Schedule plain_mappings(const Graph& graph, const CostModel& costs, scheduler::LastRow last_row) {
  MappingTable table(graph, costs);
  for (std::size_t i = 0; i < table.rows(); ++i) table.fill_row(i);
  return list_schedule(graph, costs, table.order(), table.best_mapping(table.rows(), last_row));
}

}  // namespace hios::test
