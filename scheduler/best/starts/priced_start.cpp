#include "scheduler/best/starts/priced_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/algorithms/list/peft.h"
#include "scheduler/list/earliest_finish.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"

// A list scheduler gives the memory of fast devices to the operators that come first. With a price
// for a byte there, in ms, an operator goes to a slower device unless it gains more than its bytes
// cost. Right prices are the multipliers of the memory limits, and are found as those are: a pass
// with some prices shows the demand for a device, about how often it would be filled if it had more
// room, and prices move by its logarithm, in smaller and smaller steps.
//
// An operator's end is judged with what follows it, by the optimistic costs of PEFT. What no path
// needs is worth less: of an end that is earlier than the longest path so far only a part counts.
// Both this and the prices in the optimistic costs help on some graphs and hurt on others, so there
// are passes of two kinds.
//
// Cost: a pass O(M·E·log V), about as heft.
// Tests: tests/scheduler/best/starts/priced_start_test.cpp.

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kMostPasses = 100;        // of a kind
constexpr std::size_t kFewestPasses = 4;        // with fewer, prices say little
constexpr std::size_t kPlacements = 5'000'000;  // operators × devices in all passes of a kind
constexpr double kPriceStep = 0.3, kStepsToHalf = 10;
constexpr double kLeastDemand = 0.05;

/// A kind of pass.
struct PassRules {
  double early = 1;    ///< the part that counts of an end before the longest path
  bool tolls = false;  ///< optimistic costs have prices
};
constexpr PassRules kRules[] = {{.early = 0.3, .tolls = false}, {.early = 1, .tolls = true}};

class PricedList {
 public:
  PricedList(const Graph& graph, const CostModel& costs, const Deadline& deadline)
      : graph_(graph),
        costs_(costs),
        deadline_(deadline),
        empty_(graph, costs),
        order_(priority_order(graph, costs, RankTimes::kLeast)) {
    double work_ms = 0;
    for (const OpId op : order_) {
      work_ms += costs.mean_operator_ms(op);
      all_bytes_ += bytes_of(op);
    }
    scale_ms_ = work_ms / std::max(all_bytes_, 1.0);
    for (std::size_t d = 0; d < devices(); ++d) {
      const auto runs = [&](OpId op) { return costs.can_run(op, DeviceId(d)); };
      if (std::ranges::any_of(order_, runs)) usable_.push_back(d);
    }
  }

  /// Devices that can run some operator: only these count, so that a search of some devices is the
  /// same whatever others there are.
  std::size_t usable() const { return usable_.size(); }

  /// Returns true if some device cannot hold all operators.
  bool memory_binds() const {
    if (!empty_.limited()) return false;
    return std::ranges::any_of(usable_, [&](std::size_t d) { return room_of(d) < all_bytes_; });
  }

  void passes_by(const PassRules& rules, std::size_t passes) {
    price_ms_.assign(devices(), 0);
    if (!rules.tolls) after_ = optimistic_costs(graph_, costs_);
    for (std::size_t i = 0; i < passes && !deadline_.expired(); ++i) {
      const auto demand = pass(rules);
      const double step = kPriceStep * scale_ms_ / (1 + static_cast<double>(i) / kStepsToHalf);
      for (const std::size_t d : usable_) {
        // Where an operator found no device, prices have parted operators from their memory.
        const double change = demand ? step * std::log(std::max((*demand)[d], kLeastDemand))
                                     : -price_ms_[d] / kStepsToHalf;
        price_ms_[d] = std::max(0.0, price_ms_[d] + change);
      }
    }
  }

  std::optional<Schedule> take_shortest() { return std::move(shortest_); }

 private:
  std::size_t devices() const { return costs_.platform().size(); }
  double room_of(std::size_t d) const {
    const Bytes room = empty_.room(DeviceId(d));
    return room == Placement::kNoLimit ? std::numeric_limits<double>::infinity()
                                       : static_cast<double>(room);
  }
  double price_ms(double bytes, DeviceId device) const { return price_ms_[device.index()] * bytes; }
  double bytes_of(OpId op) const { return static_cast<double>(held_bytes(graph_.op(op))); }

  /// Places all operators. Returns the demand by device; nothing if one found no device, or if the
  /// deadline expired.
  std::optional<std::vector<double>> pass(const PassRules& rules) {
    if (rules.tolls) {
      after_ = optimistic_costs(
          graph_, costs_, [&](OpId op, DeviceId device) { return price_ms(bytes_of(op), device); });
    }
    EarliestFinish placed(graph_, costs_);
    std::vector<double> full_at(devices(), 0), held(devices(), 0);  // full_at: share of all bytes
    double path_ms = 0, placed_bytes = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (deadline_.expired_at(i, kOperatorsPerCheck)) return std::nullopt;
      const OpId op = order_[i];
      if (!placed.placement().is_reserved(op)) {
        note_full(op, placed.placement(), placed_bytes / all_bytes_, full_at);
      }
      const double* const rest = &after_[op.index() * devices()];
      // The first of a label reserves memory for all, which the others find there.
      const bool reserved = placed.placement().is_reserved(op);
      const auto pays_for = reserved ? 0.0 : static_cast<double>(placed.placement().bytes(op));
      const auto device = placed.place_by(op, [&](DeviceId to, double finish_ms) {
        const double end = finish_ms + rest[to.index()];
        const double counts = end > path_ms ? end : path_ms + rules.early * (end - path_ms);
        return counts + price_ms(pays_for, to);
      });
      if (!device) return std::nullopt;
      path_ms = std::max(path_ms, placed.finish_ms(op) + rest[device->index()]);
      placed_bytes += pays_for;
      held[device->index()] += pays_for;
    }
    if (placed.latency_ms() < least_ms_) {
      least_ms_ = placed.latency_ms();
      shortest_ = placed.schedule();
    }
    for (const std::size_t d : usable_) {
      held[d] = full_at[d] > 0 ? 1 / full_at[d] : held[d] / room_of(d);
    }
    return held;
  }

  /// Notes the devices that lack memory for an operator for the first time, when this share of all
  /// bytes is placed.
  void note_full(OpId op, const Placement& now, double share, std::vector<double>& full_at) const {
    for (const std::size_t d : usable_) {
      const DeviceId device(d);
      if (full_at[d] > 0 || now.may_go(op, device) || !now.able(op, device)) continue;
      if (now.room(device) < now.bytes(op)) full_at[d] = std::max(share, kLeastDemand);
    }
  }

  const Graph& graph_;
  const CostModel& costs_;
  const Deadline& deadline_;
  const Placement empty_;
  const std::vector<OpId> order_;
  double all_bytes_ = 0;
  double scale_ms_ = 0;              ///< mean time of a byte's operator, per byte
  std::vector<std::size_t> usable_;  // devices that can run some operator
  std::vector<double> price_ms_;     // of a byte, by device
  std::vector<double> after_;        // optimistic_costs() of the pass
  std::optional<Schedule> shortest_;
  double least_ms_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Schedule schedule_by_prices(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  PricedList list(graph, costs, deadline);
  if (!list.memory_binds()) throw InputError("memory does not bind");
  const std::size_t passes = std::min(kPlacements / (graph.size() * list.usable()), kMostPasses);
  if (passes < kFewestPasses) throw InputError("too many operators for passes with prices");
  for (const PassRules& rules : kRules) list.passes_by(rules, passes);
  std::optional<Schedule> shortest = list.take_shortest();
  if (!shortest) throw InputError("no pass with prices finds a device for each operator");
  return std::move(*shortest);
}

}  // namespace hios::scheduler::best
