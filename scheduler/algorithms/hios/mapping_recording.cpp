#include "scheduler/algorithms/hios/mapping_recording.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/receipts.h"
#include "scheduler/list/timeline.h"
#include "scheduler/structures/history_tree.h"
#include "scheduler/structures/numbers.h"

// Alg. 3 of Kundu and Shu, HIOS (HIOS-MR without its intra-GPU part). Row i of a table has for each
// device j the earliest finish t(i, j) of v_i there and g(i, j), the device of v_{i-1} that gives
// it. So an entry represents a whole history: its device, then that of v_{i-1}, … back to v_1, each
// with the finish time of its own entry. v_i on j is tried after each of the histories that end in
// row i−1: it starts once j is free and the outputs of all producers have arrived from their
// devices.
//
// The paper reads each history back in full, O(n²·M²). Here each row keeps, for each of its
// histories, the time at which every device is free. The tree of histories (history_tree) answers
// on which device a producer ran. O(n·M² + M·E·log n) with the same sums, so the same decisions
// (tests/scheduler/algorithms/hios/fast_forms_test.cpp compares it with the plain form).
//
// Among devices with equal costs of all operators, v_i is tried on the first i only (the paper's
// min(M, i), where all are alike): the others would be equal by symmetry. The result therefore does
// not depend on which other devices there are.
//
// In line 22 the paper takes the history with the earliest finish of v_n (LastRow::kPaper); the
// default takes the least latency, then the earliest finish. That is the same in a graph with one
// output, and right in others, where v_n need not end last. The schedule is valid by construction:
// every operator has one device, and each device has the priorities' order, which is topological.
//
// Where receivers copy, an operator pays for a tensor if no earlier one in its history, on the same
// device, reads it: the tree has the devices of the tensor's other consumers. Where there are many,
// and all get the same message, each entry of a consumer's row keeps the set of devices that have
// the tensor (SharedOutputs), or a tensor with n consumers would cost O(n²).
//
// Memory: a history has the room left on every device, and the first operator of a label reserves
// room for all; the tree has its device.
//
// Not optimal: one history a device survives each row. Tests:
// tests/scheduler/algorithms/hios/mapping_recording_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// The state of devices at the end of a history.
struct History {
  std::vector<double> free_ms;  // by device: the last finish there
  std::vector<Bytes> room;      // by device: memory left; empty without limits
};

/// The devices that have each widely shared output at an entry of a consumer's row.
class SharedOutputs {
 public:
  SharedOutputs(const CostModel& costs, const std::vector<std::size_t>& row_of)
      : devices_(costs.platform().size()), words_((devices_ + 63) / 64) {
    const Graph& graph = costs.graph();
    if (!costs.charges_receivers()) return;
    output_of_.assign(graph.size(), nullptr);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (!is_shared_widely(costs, OpId(i))) continue;
      outputs_.push_back(std::make_unique<Output>());
      output_of_[i] = outputs_.back().get();
      for (EdgeId e : graph.out_edges(OpId(i))) {
        output_of_[i]->rows.push_back(row_of[graph.edge(e).to.index()]);
      }
      std::vector<std::size_t>& rows = output_of_[i]->rows;
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      output_of_[i]->devices.assign(rows.size() * devices_ * words_, 0);
    }
  }

  /// Returns true if the output is shared widely. REQUIRES: receivers copy.
  bool has(OpId producer) const { return output_of_[producer.index()] != nullptr; }

  /// Calls each(device) for every device that has the output after the history that ends in an
  /// entry. REQUIRES: all rows up to the entry's are ended.
  template <class Each>
  void for_each_device(OpId producer, const HistoryTree& tree, std::size_t row, DeviceId device,
                       Each each) const {
    const Output& output = *output_of_[producer.index()];
    const std::size_t index = last_index(output, row + 1);
    if (index == output.rows.size()) return;
    const std::size_t at = begin(index, tree.ancestor(row, device, output.rows[index]));
    for (std::size_t d = 0; d < devices_; ++d) {
      if (output.devices[at + d / 64] >> (d % 64) & 1) each(DeviceId(d));
    }
  }

  /// Enters that the row's operator receives the output in its entry of the device.
  void receive(OpId producer, const HistoryTree& tree, std::size_t row, DeviceId device) {
    Output& output = *output_of_[producer.index()];
    const std::size_t before = last_index(output, row);
    const bool first = before == output.rows.size();
    const std::size_t to = begin(first ? 0 : before + 1, device);
    if (!first) {
      const std::size_t from = begin(before, tree.ancestor(row, device, output.rows[before]));
      std::copy_n(output.devices.begin() + static_cast<long>(from), words_,
                  output.devices.begin() + static_cast<long>(to));
    }
    output.devices[to + device.index() / 64] |= std::uint64_t{1} << (device.index() % 64);
  }

 private:
  struct Output {
    std::vector<std::size_t> rows;       // of its consumers, in order
    std::vector<std::uint64_t> devices;  // consumer × device of its entry: a bit per device
  };

  std::size_t begin(std::size_t index, DeviceId device) const {
    return (index * devices_ + device.index()) * words_;
  }
  /// Returns the index of the last consumer before the row, or the number of rows.
  static std::size_t last_index(const Output& output, std::size_t row) {
    const auto after = std::lower_bound(output.rows.begin(), output.rows.end(), row);
    if (after == output.rows.begin()) return output.rows.size();
    return static_cast<std::size_t>(after - output.rows.begin()) - 1;
  }

  std::size_t devices_, words_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::vector<Output*> output_of_;  // by operator; null: not shared widely
};

class MappingTable {
 public:
  MappingTable(const Graph& graph, const CostModel& costs)
      : graph_(graph),
        costs_(costs),
        empty_(graph, costs),
        devices_(costs.platform().size()),
        order_(priority_order(graph, costs)),
        position_(positions(order_)),
        tree_(graph.size(), devices_),
        ends_(devices_),
        next_ends_(devices_),
        copies_(costs.charges_receivers()),
        awaited_(costs, DeviceId(0)),
        shared_(costs, position_),
        twins_before_(count_twins()) {
    first_of_unit_.assign(empty_.units().size(), graph.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (const auto unit = empty_.unit(order_[i])) {
        first_of_unit_[*unit] = std::min(first_of_unit_[*unit], i);
      }
    }
  }

  std::size_t rows() const { return order_.size(); }
  const std::vector<OpId>& order() const { return order_; }

  /// Fills the row; returns false if no history has a device that can take the row's operator.
  bool fill_row(std::size_t i) {
    tree_.begin_row(i);
    if (i == 0) {
      fill_first_row();
    } else {
      for (std::size_t k = 0; k < devices_; ++k) {
        if (tree_.entry(i - 1, DeviceId(k)).exists()) extend_history(i, DeviceId(k));
      }
    }
    bool any = false;
    for (std::size_t j = 0; j < devices_; ++j) {
      if (!tree_.entry(i, DeviceId(j)).exists()) continue;
      any = true;
      end_history(i, DeviceId(j));
    }
    ends_.swap(next_ends_);
    return any;
  }

  /// Returns the devices of the first `count` operators in the best history of the last row.
  std::vector<std::optional<DeviceId>> best_mapping(std::size_t count, LastRow last_row) const {
    std::vector<std::optional<DeviceId>> mapping(graph_.size());
    if (count == 0) return mapping;
    std::pair<double, double> least{kInfinity, kInfinity};
    DeviceId best;
    for (std::size_t j = 0; j < devices_; ++j) {
      const HistoryTree::Entry& entry = tree_.entry(count - 1, DeviceId(j));
      if (!entry.exists()) continue;
      const auto& free = ends_[j].free_ms;
      const double latency = last_row == LastRow::kPaper
                                 ? entry.finish_ms
                                 : *std::max_element(free.begin(), free.end());
      if (std::pair(latency, entry.finish_ms) < least) {
        least = {latency, entry.finish_ms};
        best = DeviceId(j);
      }
    }
    for (std::size_t i = count; i-- > 0;) {
      mapping[order_[i].index()] = best;
      best = DeviceId(tree_.entry(i, best).parent);
    }
    return mapping;
  }

 private:
  bool are_twins(DeviceId a, DeviceId b) const {
    const Platform& platform = costs_.platform();
    if (platform.device(a).memory_bytes != platform.device(b).memory_bytes) return false;
    if (costs_.launch_ms(a) != costs_.launch_ms(b)) return false;
    if (!costs_.receive_alike(a, b)) return false;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (costs_.operator_ms(OpId(i), a) != costs_.operator_ms(OpId(i), b)) return false;
    }
    return true;
  }

  std::vector<std::size_t> count_twins() const {
    std::vector<std::size_t> before(devices_, 0);
    for (std::size_t d = 1; d < devices_; ++d) {
      for (std::size_t e = d; e-- > 0 && before[d] == 0;) {
        if (are_twins(DeviceId(d), DeviceId(e))) before[d] = before[e] + 1;
      }
    }
    return before;
  }

  bool tried(std::size_t row, std::size_t device) const { return twins_before_[device] <= row; }

  void fill_first_row() {
    for (std::size_t j = 0; j < devices_; ++j) {
      if (!tried(0, j)) continue;
      if (!empty_.may_go(order_[0], DeviceId(j))) continue;
      const DeviceId device(j);
      tree_.set(0, device, costs_.launch_ms(device) + costs_.operator_ms(order_[0], device), {});
    }
  }

  /// Tries the row's operator on every device after the history that ends on device k.
  void extend_history(std::size_t i, DeviceId k) {
    const OpId op = order_[i];
    const History& history = ends_[k.index()];
    list_inputs(i, k);
    const auto unit_goes = device_of_unit(i, k);
    for (std::size_t j = 0; j < devices_; ++j) {
      if (!tried(i, j)) continue;
      const DeviceId device(j);
      if (unit_goes ? *unit_goes != device : !fits(op, device, history)) continue;
      const double start = start_ms(device, history.free_ms[j]);
      const double finish = start + costs_.operator_ms(op, device);
      if (finish < tree_.entry(i, device).finish_ms) tree_.set(i, device, finish, k);
    }
  }

  /// Lists the inputs of the row's operator in the history that ends on device k; where receivers
  /// copy, with the earlier consumers of each.
  void list_inputs(std::size_t i, DeviceId k) {
    inputs_.clear();
    consumers_.clear();
    for (EdgeId e : graph_.in_edges(order_[i])) {
      const OpId producer = graph_.edge(e).from;
      const std::size_t row = position_[producer.index()];
      const DeviceId device = tree_.ancestor(i - 1, k, row);
      if (copies_) list_consumers_before(i, k, producer);
      inputs_.push_back({e, device, tree_.entry(row, device).finish_ms, consumers_.size()});
    }
  }

  void list_consumers_before(std::size_t i, DeviceId k, OpId producer) {
    if (shared_.has(producer)) {
      const EdgeId any = graph_.out_edges(producer).front();
      shared_.for_each_device(producer, tree_, i - 1, k, [&](DeviceId device) {
        consumers_.push_back({any, device});
      });
      return;
    }
    for (EdgeId e : graph_.out_edges(producer)) {
      const std::size_t row = position_[graph_.edge(e).to.index()];
      if (row < i) consumers_.push_back({e, tree_.ancestor(i - 1, k, row)});
    }
  }

  /// Returns the start of the row's operator on a device that is free from then on.
  double start_ms(DeviceId device, double free_ms) {
    if (copies_) return start_with_copies(device, free_ms);
    double start = free_ms;
    for (const Input& input : inputs_) {
      const double transfer = costs_.transfer_ms(input.edge, input.device, device);
      start = std::max(start, input.finish_ms + transfer);
    }
    return start;
  }

  double start_with_copies(DeviceId device, double free_ms) {
    awaited_.begin(device);
    std::size_t next = 0;
    for (const Input& input : inputs_) {
      Receipt had;
      for (; next < input.consumers_end; ++next) {
        if (consumers_[next].device != device || input.device == device) continue;
        had = deliver(costs_, consumers_[next].edge, input.device, device, had).receipt;
      }
      if (input.device != device) awaited_.add(input.edge, input.device, input.finish_ms, had);
    }
    awaited_.end();
    return awaited_.start_ms(free_ms);
  }

  /// Returns the device that the history has given to operators of the same label, if any.
  std::optional<DeviceId> device_of_unit(std::size_t i, DeviceId k) const {
    const auto unit = empty_.unit(order_[i]);
    if (!unit || first_of_unit_[*unit] >= i) return std::nullopt;
    return tree_.ancestor(i - 1, k, first_of_unit_[*unit]);
  }

  bool fits(OpId op, DeviceId device, const History& history) const {
    return empty_.able(op, device) &&
           (history.room.empty() || empty_.bytes(op) <= history.room[device.index()]);
  }

  /// Computes the state after the row's history on the device.
  void end_history(std::size_t i, DeviceId device) {
    for (EdgeId e : graph_.in_edges(order_[i])) {
      const OpId producer = graph_.edge(e).from;
      if (copies_ && shared_.has(producer)) shared_.receive(producer, tree_, i, device);
    }
    const HistoryTree::Entry& entry = tree_.entry(i, device);
    History& history = next_ends_[device.index()];
    if (i > 0) {
      history = ends_[entry.parent];
    } else {
      for (std::size_t d = 0; d < devices_; ++d) {
        history.free_ms.push_back(costs_.launch_ms(DeviceId(d)));
      }
      for (std::size_t d = 0; d < devices_ && empty_.limited(); ++d) {
        history.room.push_back(empty_.room(DeviceId(d)));
      }
    }
    double& free = history.free_ms[device.index()];
    free = std::max(free, entry.finish_ms);
    const auto unit = empty_.unit(order_[i]);
    const bool reserved = unit && first_of_unit_[*unit] < i;
    if (history.room.empty() || reserved) return;
    Bytes& room = history.room[device.index()];
    if (room != Placement::kNoLimit) room -= empty_.bytes(order_[i]);
  }

  struct Input {
    EdgeId edge;
    DeviceId device;
    double finish_ms;
    std::size_t consumers_end;  ///< of its producer, in consumers_
  };
  /// An earlier consumer of an input's producer.
  struct Consumer {
    EdgeId edge;
    DeviceId device;
  };

  const Graph& graph_;
  const CostModel& costs_;
  const Placement empty_;
  std::size_t devices_;
  std::vector<OpId> order_;
  std::vector<std::size_t> position_;       // in order_, by operator
  std::vector<std::size_t> first_of_unit_;  // its row, by unit
  HistoryTree tree_;
  std::vector<History> ends_, next_ends_;  // ends in the previous row and in this one, by device
  std::vector<Input> inputs_;              // inputs of the row's operator in one history
  std::vector<Consumer> consumers_;        // by input
  const bool copies_;                      // receivers copy
  AwaitedInputs awaited_;
  SharedOutputs shared_;
  std::vector<std::size_t> twins_before_;  // by device: number of equal devices before it
};

}  // namespace

TimedSchedule record_mappings(const Graph& graph, const CostModel& costs, const Deadline& deadline,
                              LastRow last_row) {
  MappingTable table(graph, costs);
  std::size_t rows = 0;
  while (rows < table.rows() && !deadline.expired()) {
    if (!table.fill_row(rows++)) {
      const auto packed = pack_operators(graph, costs, "mapping recording", deadline);
      return {list_schedule(graph, costs, table.order(), packed), false};
    }
  }
  return {list_schedule(graph, costs, table.order(), table.best_mapping(rows, last_row)),
          rows < table.rows()};
}

}  // namespace hios::scheduler
