#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/message_run.h"
#include "hios/graph/graph.h"
#include "scheduler/structures/busy_times.h"

// Receiving costs a device time while a schedule is made (CostModel::charges_receivers), by the
// rule of simulate(): who first awaits a tensor copies it, and starts at max(arrival, begin of the
// wait + copy). The rule itself is AwaitedCopies; here is what it needs to know of a schedule that
// is not complete.
//
// Ranges of a tensor travel as one message with all bytes from the first to the last that is read.
// Consumers that come later may read more. They pay the rest of the copy, and wait for the whole
// message; those before them keep their times, which simulate() may raise.
//
// Tests: tests/scheduler/list/receipts_test.cpp.

namespace hios::scheduler {

/// The part of a tensor that a device has received.
struct Receipt {
  ByteRange bytes;       ///< empty at first
  double copied_ms = 0;  ///< time of its copies
};

/// A message: the time from its producer's end until a stage can start, and what the device has
/// then.
struct Delivery {
  double transfer_ms;
  Receipt receipt;
};

/// Returns the message that brings the edge's bytes to a device that has received some already.
inline Delivery deliver(const CostModel& costs, EdgeId edge, DeviceId from, DeviceId to,
                        const Receipt& had) {
  const Edge& sent = costs.graph().edge(edge);
  const ByteRange bytes = had.bytes.empty() ? sent.read() : hull(had.bytes, sent.read());
  double ms = costs.transfer_ms(edge, from, to);
  if (costs.sends_ranges(sent.from)) ms = std::max(ms, costs.message_ms(bytes.size(), from, to));
  const double copy_ms = costs.copy_ms(ms - costs.launch_ms(to), from, to);
  return {ms, {bytes, std::max(had.copied_ms, copy_ms)}};
}

/// Returns true if an operator's output travels as the same message to each consumer on a device,
/// so that the first of them pays for all, and it has many consumers: then who receives it is kept,
/// not searched among them. The result is the same.
inline bool is_shared_widely(const CostModel& costs, OpId producer) {
  constexpr std::size_t kManyConsumers = 64;
  const Graph& graph = costs.graph();
  const auto edges = graph.out_edges(producer);
  if (edges.size() < kManyConsumers || costs.sends_ranges(producer)) return false;
  const Edge& first = graph.edge(edges.front());
  return std::all_of(edges.begin(), edges.end(), [&](EdgeId id) {
    const Edge& edge = graph.edge(id);
    return edge.size_bytes == first.size_bytes && edge.transfer_ms == first.transfer_ms &&
           edge.transfer_by_pair == first.transfer_by_pair;
  });
}

/// The arrivals and copies that one operator or stage awaits on a device.
class AwaitedInputs {
 public:
  AwaitedInputs(const CostModel& costs, DeviceId device) : costs_(&costs) { begin(device); }

  /// Begins with an operator without inputs.
  void begin(DeviceId device) {
    device_ = device;
    own_ms_ = ready_ms_ = costs_->launch_ms(device);
    copies_.clear();
  }
  /// Adds an input whose producer ends on the same device.
  void add_own(double finish_ms) {
    own_ms_ = std::max(own_ms_, finish_ms);
    ready_ms_ = std::max(ready_ms_, finish_ms);
  }
  /// Adds an input whose producer ends on another device, of which the device has some already.
  void add(EdgeId edge, DeviceId from, double finish_ms, const Receipt& had) {
    const auto [transfer_ms, has] = deliver(*costs_, edge, from, device_, had);
    const double arrival_ms = finish_ms + transfer_ms;
    ready_ms_ = std::max(ready_ms_, arrival_ms);
    copies_.add(costs_->graph().edge(edge).from.index(), arrival_ms, has.copied_ms - had.copied_ms);
  }
  /// The device does not wait for inputs before this time.
  void wait_from(double ms) { own_ms_ = std::max(own_ms_, ms); }
  /// Ends the list of inputs.
  void end() { copies_.sort(); }

  /// Returns the start if the device waits from this time on. REQUIRES: end().
  double start_ms(double from_ms) const { return std::max(ready_ms_, copies_.end_ms(from_ms)); }
  double copies_ms() const { return copies_.total_ms(); }
  /// Returns the time from which the device waits in the first gap that holds the copies and a work
  /// of this length. REQUIRES: end().
  template <class Work>
  double first_gap_ms(const BusyTimes<Work>& slots, double length_ms) const {
    const double first_ms = std::max(own_ms_, copies_.latest_begin_ms(ready_ms_));
    return slots.first_gap_ms(first_ms, length_ms, [&](double from_ms, double end_ms) {
      const double start = start_ms(from_ms);
      // An operator that takes no time must not end with a copy where the next one begins: in the
      // order of slots it would come before, and it may depend on that one.
      return start + length_ms <= end_ms && (start < end_ms || start == from_ms);
    });
  }

 private:
  const CostModel* costs_;
  DeviceId device_;
  double own_ms_ = 0;    ///< the device cannot wait before: its launch, or own producers' end
  double ready_ms_ = 0;  ///< the last arrival
  AwaitedCopies copies_;
};

/// The parts of all tensors that all devices have received in a schedule under construction.
class Receipts {
 public:
  /// `costs` outlives it. Without `counts` receiving takes no time, whatever the costs.
  explicit Receipts(const CostModel& costs, bool counts = true)
      : costs_(&costs),
        counts_(counts && costs.charges_receivers()),
        devices_(costs.platform().size()),
        awaited_(costs, DeviceId(0)) {
    clear();
  }

  /// Returns true if receiving takes time. Otherwise nothing else may be called but clear().
  bool count() const { return counts_; }
  void clear() {
    if (count()) received_.assign(costs_->graph().size() * devices_, {});
  }

  /// An input of an operator, with the device and the end of its producer.
  struct Input {
    EdgeId edge;
    DeviceId from;
    double finish_ms;
  };
  /// The time from which a device waits for inputs, and the start of the work.
  struct Begin {
    double wait_ms, start_ms;
  };

  /// Returns the begin after all others, of which the last one ends at `free_ms`.
  Begin after(std::span<const Input> inputs, DeviceId device, double free_ms) const {
    await(inputs, device, /*again=*/false);
    return {free_ms, awaited_.start_ms(free_ms)};
  }
  /// Returns the begin in the gap where a work of this length starts first. In a gap before the
  /// operator that has received a tensor, its copy is made again; that operator keeps its time.
  template <class Work>
  Begin in_gap(std::span<const Input> inputs, DeviceId device, const BusyTimes<Work>& slots,
               double length_ms) const {
    Begin best;
    const bool has_some = await(inputs, device, /*again=*/false);
    best.wait_ms = awaited_.first_gap_ms(slots, length_ms);
    best.start_ms = awaited_.start_ms(best.wait_ms);
    if (!has_some) return best;
    await(inputs, device, /*again=*/true);
    Begin again;
    again.wait_ms = awaited_.first_gap_ms(slots, length_ms);
    again.start_ms = awaited_.start_ms(again.wait_ms);
    return again.start_ms < best.start_ms ? again : best;
  }

  /// Returns the time of the copies of inputs that the device has not received at any time.
  double missing_ms(std::span<const Input> inputs, DeviceId device) const {
    await(inputs, device, /*again=*/false);
    return awaited_.copies_ms();
  }
  /// Records that the operator with these inputs has them from its end on.
  void receive(std::span<const Input> inputs, DeviceId device, double wait_ms, double finish_ms) {
    for (const Input& input : inputs) {
      if (input.from == device) continue;
      Received& received = at(input, device);
      const bool later = wait_ms >= received.after_ms;
      const Receipt had{received.receipt.bytes, later ? received.receipt.copied_ms : 0};
      const Receipt has = deliver(*costs_, input.edge, input.from, device, had).receipt;
      received.receipt.bytes = has.bytes;
      const bool more =
          later ? has.copied_ms > had.copied_ms : has.copied_ms >= received.receipt.copied_ms;
      if (more) received = {has, finish_ms};
    }
  }

 private:
  struct Received {
    Receipt receipt;
    double after_ms = 0;  ///< operators that wait from then on have it
  };

  Received& at(const Input& input, DeviceId device) {
    const OpId producer = costs_->graph().edge(input.edge).from;
    return received_[producer.index() * devices_ + device.index()];
  }
  const Received& at(const Input& input, DeviceId device) const {
    return const_cast<Receipts*>(this)->at(input, device);
  }

  /// Collects what the operator awaits; returns true if the device has some of it. With `again`, as
  /// if it had nothing; without, not before it has what it has.
  bool await(std::span<const Input> inputs, DeviceId device, bool again) const {
    bool has_some = false;
    awaited_.begin(device);
    for (const Input& input : inputs) {
      if (input.from == device) {
        awaited_.add_own(input.finish_ms);
        continue;
      }
      const Received& received = at(input, device);
      has_some = has_some || received.receipt.copied_ms > 0;
      awaited_.add(input.edge, input.from, input.finish_ms,
                   {received.receipt.bytes, again ? 0 : received.receipt.copied_ms});
      if (!again) awaited_.wait_from(received.after_ms);
    }
    awaited_.end();
    return has_some;
  }

  const CostModel* costs_;
  bool counts_;
  std::size_t devices_;
  std::vector<Received> received_;  // operator × device
  mutable AwaitedInputs awaited_;   // of the operator in question
};

}  // namespace hios::scheduler
