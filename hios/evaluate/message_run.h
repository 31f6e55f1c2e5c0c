#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Returns simulate() by messages, as it does where CostModel::messages_matter(). Linear in
/// operators and edges, except for two queues. REQUIRES: as simulate().
Timeline simulate_messages(const Graph& graph, const Schedule& schedule, const CostModel& costs);

/// The copies that a device makes of the messages that a stage awaits (CostModel::copy_ms): one
/// after the other, in the order of arrival. The only place that knows what they take.
class AwaitedCopies {
 public:
  struct Copy {
    double arrival_ms, ms;
    std::size_t message;
    auto operator<=>(const Copy&) const = default;
  };

  void clear() { copies_.clear(); }
  /// Adds a message. Of one that several operators await, the latest arrival and the longest copy
  /// count.
  void add(std::size_t message, double arrival_ms, double copy_ms) {
    if (copy_ms > 0) copies_.push_back({arrival_ms, copy_ms, message});
  }
  /// Joins the copies of the same message and sorts them, after the last one was added.
  /// O(n log n).
  std::span<const Copy> sort() {
    if (copies_.size() > 1) join_same();
    std::sort(copies_.begin(), copies_.end());
    return copies_;
  }

  /// Returns the time at which all are copied if the device waits from `from_ms` on. With a total
  /// of C it is never before from_ms + C, and at any later time than that only because of the
  /// arrivals. REQUIRES: sort().
  double end_ms(double from_ms) const {
    for (const Copy& copy : copies_) from_ms = std::max(copy.arrival_ms, from_ms + copy.ms);
    return from_ms;
  }
  /// Returns the latest time from which the device must wait for the copies to end as early as the
  /// arrivals allow, and not before `at_ms`. REQUIRES: sort().
  double latest_begin_ms(double at_ms) const {
    return std::max(at_ms, end_ms(-std::numeric_limits<double>::infinity())) - total_ms();
  }
  /// REQUIRES: sort().
  double total_ms() const {
    double total_ms = 0;
    for (const Copy& copy : copies_) total_ms += copy.ms;
    return total_ms;
  }

 private:
  void join_same() {
    std::ranges::sort(copies_, {}, &Copy::message);
    std::size_t last = 0;
    for (std::size_t i = 1; i < copies_.size(); ++i) {
      if (copies_[i].message != copies_[last].message) {
        copies_[++last] = copies_[i];
        continue;
      }
      copies_[last].arrival_ms = std::max(copies_[last].arrival_ms, copies_[i].arrival_ms);
      copies_[last].ms = std::max(copies_[last].ms, copies_[i].ms);
    }
    copies_.resize(last + 1);
  }

  std::vector<Copy> copies_;
};

/// Two transfers of which the first is sent before the second, where they share a link or port.
struct TransferPrecedence {
  PlannedTransfer before, after;
  bool operator==(const TransferPrecedence&) const = default;
};

/// The order of transfers, as far as it is decided. Without both, the first ready is sent first.
struct TransferOrder {
  std::span<const PlannedTransfer> list = {};  ///< all transfers, each once; or none
  /// Those of transfers that there are not, or that share nothing, are ignored.
  std::span<const TransferPrecedence> precedences = {};
};

/// A simulation of messages, for any representation of stages: one message for each tensor and
/// device that reads some of it. Events are processed in the order of time: stages end, and ready
/// tensors are sent, so that with contention a tensor that is ready earlier goes before all that
/// are ready later. Where a schedule lists transfers, a tensor is sent once those before it on its
/// link or ports were; with precedences, once those that precede it were. An object may run
/// repeatedly and then allocates little. One thread at a time.
///
/// A Plan has: stages(), of which used(s) may be false; operators(); of a used stage device(s),
/// cost_ms(s), is_first(s) on its device, and next(s), stages() where it is the last; stage_of(op);
/// for_each_operator(s, f(OpId)); for_each_output(op, f(EdgeId, OpId consumer)) and
/// for_each_input(op, f(EdgeId, OpId producer)); costs().
class MessageRun {
 public:
  /// A transfer of a tensor to one device.
  struct Tensor {
    OpId producer;
    DeviceId from, to;
    ByteRange bytes;         ///< from the first to the last byte of the tensor that is read there
    double occupied_ms = 0;  ///< its time on the link: of the slowest edge that it serves, at least
    double ready_ms = 0;     ///< the end of its producer's stage
    double start_ms = 0;
    /// After start_ms, for all its consumers; empty: by each edge alone.
    std::optional<double> arrived_ms = {};
    double received_ms = 0;   ///< time of its copies so far (CostModel::receive_ms)
    std::uint32_t waits = 1;  ///< number of stages and tensors that it waits for
    std::uint32_t channels[2] = {0, 0};
    std::uint32_t followers = kNone;  ///< the first in followers_: tensors that wait for this one
  };

  MessageRun(Contention contention, std::size_t devices)
      : contention_(contention), devices_(devices) {}

  /// Runs to the end and returns true. Returns false as soon as `stop(stage, its end in ms)` is
  /// true, which is called when a stage's end becomes known, and on a deadlock. Throws
  /// std::logic_error where the order's list is neither empty nor all transfers, each once.
  template <class Plan, class Stop>
  bool run(const Plan& plan, const TransferOrder& order, const Stop& stop) {
    prepare(plan, order);
    std::size_t used = 0;
    for (std::size_t s = 0; s < plan.stages(); ++s) {
      if (!plan.used(s)) continue;
      ++used;
      if (waits_[s] == 0 && begin(plan, s, stop)) return false;
    }
    for (; !ends_.empty() || !ready_.empty(); --used) {
      while (!ready_.empty() && (ends_.empty() || ready_.front().first < ends_.front().first)) {
        if (send(plan, pop(ready_), stop)) return false;
      }
      if (ends_.empty()) break;
      if (end(plan, pop(ends_), stop)) return false;
    }
    return used == 0;
  }

  /// Times of the last complete run, by stage, in ms.
  const std::vector<double>& ready_ms() const { return ready_ms_; }
  const std::vector<double>& awaited_ms() const { return awaited_ms_; }
  const std::vector<double>& end_ms() const { return end_ms_; }
  double start_ms(std::size_t stage) const { return start_ms_[stage]; }
  /// Returns the transfers by producer, then destination.
  std::span<const Tensor> tensors() const { return tensors_; }
  /// Returns the numbers of the transfers in the order in which links and ports carry them.
  std::span<const std::uint32_t> sent() const { return sent_; }
  double latency_ms() const { return latency_ms_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  /// A time and a number, the smallest first: tensors are numbered by producer and destination.
  using Event = std::pair<double, std::uint32_t>;
  static void push(std::vector<Event>& queue, double ms, std::size_t number) {
    queue.emplace_back(ms, static_cast<std::uint32_t>(number));
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  }
  static std::uint32_t pop(std::vector<Event>& queue) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const std::uint32_t number = queue.back().second;
    queue.pop_back();
    return number;
  }

  template <class Plan>
  void prepare(const Plan& plan, const TransferOrder& order) {
    for (auto* times : {&ready_ms_, &awaited_ms_, &start_ms_, &end_ms_}) {
      times->assign(plan.stages(), 0);
    }
    waits_.assign(plan.stages(), 0);
    ends_.clear();
    ready_.clear();
    latency_ms_ = 0;
    tensors_.clear();
    first_tensor_.clear();
    followers_.clear();
    sent_.clear();
    for (std::size_t s = 0; s < plan.stages(); ++s) {
      if (!plan.used(s)) continue;
      waits_[s] = !plan.is_first(s);
      if (plan.is_first(s)) awaited_ms_[s] = plan.costs().launch_ms(plan.device(s));
    }
    for (std::size_t i = 0; i < plan.operators(); ++i) list_tensors(plan, OpId(i));
    first_tensor_.push_back(tensors_.size());
    free_ms_.assign(contention_ == Contention::kPort ? 2 * devices_ : links_.size(), 0);
    if (contention_ == Contention::kNone) return;
    if (!order.list.empty()) apply_list(order.list);
    for (const TransferPrecedence& precedence : order.precedences) apply(precedence);
  }

  template <class Plan>
  void list_tensors(const Plan& plan, OpId op) {
    const std::size_t first = tensors_.size(), stage = plan.stage_of(op);
    const DeviceId from = plan.device(stage);
    first_tensor_.push_back(first);
    plan.for_each_output(op, [&](EdgeId edge, OpId consumer) {
      const std::size_t to_stage = plan.stage_of(consumer);
      if (to_stage == stage) return;
      ++waits_[to_stage];
      const DeviceId to = plan.device(to_stage);
      if (to == from) return;
      const ByteRange read = plan.costs().graph().edge(edge).read();
      std::size_t t = first;
      while (t < tensors_.size() && tensors_[t].to != to) ++t;
      if (t == tensors_.size()) {
        tensors_.push_back({.producer = op, .from = from, .to = to, .bytes = read});
        choose_channels(tensors_.back());
      }
      tensors_[t].bytes = hull(tensors_[t].bytes, read);
      tensors_[t].occupied_ms =
          std::max(tensors_[t].occupied_ms, plan.costs().link_ms(edge, from, to));
    });
    for (std::size_t t = first; plan.costs().sends_ranges(op) && t < tensors_.size(); ++t) {
      set_message_ms(plan.costs(), tensors_[t]);
    }
    std::sort(tensors_.begin() + static_cast<std::ptrdiff_t>(first), tensors_.end(),
              [](const Tensor& a, const Tensor& b) { return a.to < b.to; });
  }

  static void set_message_ms(const CostModel& costs, Tensor& tensor) {
    const double launch_ms = costs.launch_ms(tensor.to);
    const double ms = costs.message_ms(tensor.bytes.size(), tensor.from, tensor.to);
    tensor.arrived_ms = std::max(ms, tensor.occupied_ms + launch_ms);
    tensor.occupied_ms = *tensor.arrived_ms - launch_ms;
  }

  void choose_channels(Tensor& tensor) {
    if (contention_ == Contention::kNone) return;
    const auto from = static_cast<std::uint32_t>(tensor.from.index());
    const auto to = static_cast<std::uint32_t>(tensor.to.index());
    if (contention_ == Contention::kPort) {
      tensor.channels[0] = from;
      tensor.channels[1] = static_cast<std::uint32_t>(devices_) + to;
      return;
    }
    const auto next = static_cast<std::uint32_t>(links_.size());
    const std::uint64_t pair = static_cast<std::uint64_t>(from) << 32 | to;
    tensor.channels[0] = tensor.channels[1] = links_.emplace(pair, next).first->second;
  }

  void apply_list(std::span<const PlannedTransfer> list);
  void apply(const TransferPrecedence& precedence);
  std::uint32_t find(const PlannedTransfer& transfer) const;
  void wait_for(std::uint32_t before, std::uint32_t after) {
    followers_.push_back({after, tensors_[before].followers});
    tensors_[before].followers = static_cast<std::uint32_t>(followers_.size()) - 1;
    ++tensors_[after].waits;
  }

  /// Begins a stage that waits for nothing any more.
  template <class Plan, class Stop>
  bool begin(const Plan& plan, std::size_t stage, const Stop& stop) {
    start_ms_[stage] = std::max(ready_ms_[stage], copied_ms(plan, stage));
    end_ms_[stage] = start_ms_[stage] + plan.cost_ms(stage);
    latency_ms_ = std::max(latency_ms_, end_ms_[stage]);
    push(ends_, end_ms_[stage], stage);
    return stop(stage, end_ms_[stage]);
  }

  /// Returns the time when the stage's device has copied what it first awaits for it.
  template <class Plan>
  double copied_ms(const Plan& plan, std::size_t stage) {
    if (!plan.costs().charges_receivers()) return awaited_ms_[stage];
    const DeviceId device = plan.device(stage);
    copies_.clear();
    plan.for_each_operator(stage, [&](OpId op) {
      plan.for_each_input(op, [&](EdgeId edge, OpId producer) {
        const DeviceId from = plan.device(plan.stage_of(producer));
        if (from != device) add_copy(plan.costs(), edge, message(producer, device));
      });
    });
    for (const AwaitedCopies::Copy& copy : copies_.sort()) {
      tensors_[copy.message].received_ms += copy.ms;
    }
    return copies_.end_ms(awaited_ms_[stage]);
  }

  /// Notes the copy of a message, unless an earlier stage has received as much.
  void add_copy(const CostModel& costs, EdgeId edge, std::size_t number) {
    const Tensor& tensor = tensors_[number];
    const double link_ms =
        tensor.arrived_ms ? tensor.occupied_ms : costs.link_ms(edge, tensor.from, tensor.to);
    copies_.add(number, arrival_ms(costs, edge, tensor),
                costs.copy_ms(link_ms, tensor.from, tensor.to) - tensor.received_ms);
  }

  static double arrival_ms(const CostModel& costs, EdgeId edge, const Tensor& tensor) {
    return tensor.start_ms + (tensor.arrived_ms ? *tensor.arrived_ms
                                                : costs.transfer_ms(edge, tensor.from, tensor.to));
  }

  /// Returns the number of a message. REQUIRES: there is one.
  std::size_t message(OpId producer, DeviceId to) const {
    std::size_t t = first_tensor_[producer.index()];
    while (tensors_[t].to != to) ++t;
    return t;
  }

  template <class Plan, class Stop>
  bool arrive(const Plan& plan, std::size_t stage, double ms, const Stop& stop) {
    ready_ms_[stage] = std::max(ready_ms_[stage], ms);
    return --waits_[stage] == 0 && begin(plan, stage, stop);
  }

  template <class Plan, class Stop>
  bool end(const Plan& plan, std::size_t stage, const Stop& stop) {
    const double ms = end_ms_[stage];
    const DeviceId device = plan.device(stage);
    bool stopped = false;
    plan.for_each_operator(stage, [&](OpId op) {
      plan.for_each_output(op, [&](EdgeId, OpId consumer) {
        const std::size_t to = plan.stage_of(consumer);
        if (stopped || to == stage || plan.device(to) != device) return;
        stopped = arrive(plan, to, ms, stop);
      });
      for (std::size_t t = first_tensor_[op.index()]; t < first_tensor_[op.index() + 1]; ++t) {
        tensors_[t].ready_ms = ms;
        if (--tensors_[t].waits == 0) push(ready_, ms, t);
      }
    });
    if (stopped) return true;
    const std::size_t next = plan.next(stage);
    if (next == plan.stages()) return false;
    awaited_ms_[next] = ms;
    return --waits_[next] == 0 && begin(plan, next, stop);
  }

  template <class Plan, class Stop>
  bool send(const Plan& plan, std::size_t number, const Stop& stop) {
    Tensor& tensor = tensors_[number];
    tensor.start_ms = tensor.ready_ms;
    if (contention_ != Contention::kNone) {
      double& one = free_ms_[tensor.channels[0]];
      double& other = free_ms_[tensor.channels[1]];
      tensor.start_ms = std::max({tensor.ready_ms, one, other});
      one = other = tensor.start_ms + tensor.occupied_ms;
    }
    sent_.push_back(static_cast<std::uint32_t>(number));
    for (std::uint32_t f = tensor.followers; f != kNone; f = followers_[f].next) {
      const std::uint32_t after = followers_[f].tensor;
      if (--tensors_[after].waits == 0) push(ready_, tensors_[after].ready_ms, after);
    }
    bool stopped = false;
    plan.for_each_output(tensor.producer, [&](EdgeId edge, OpId consumer) {
      const std::size_t to = plan.stage_of(consumer);
      if (stopped || plan.device(to) != tensor.to) return;
      stopped = arrive(plan, to, arrival_ms(plan.costs(), edge, tensor), stop);
    });
    return stopped;
  }

  Contention contention_;
  std::size_t devices_;
  std::unordered_map<std::uint64_t, std::uint32_t>
      links_;  // channel by pair, in order of first use
  std::vector<double> ready_ms_, awaited_ms_, start_ms_, end_ms_;  // by stage
  std::vector<std::uint32_t> waits_;                               // by stage
  std::vector<Tensor> tensors_;
  std::vector<std::size_t> first_tensor_;  // by operator, and one more for the end
  struct Follower {
    std::uint32_t tensor, next;  // the next of the same tensor's followers; kNone: the last
  };
  std::vector<Follower> followers_;
  std::vector<std::uint32_t> sent_;
  std::vector<double> free_ms_;      // by channel
  std::vector<Event> ends_, ready_;  // heaps: running stages, tensors to be sent
  AwaitedCopies copies_;             // of the stage that begins
  double latency_ms_ = 0;
};

}  // namespace hios
