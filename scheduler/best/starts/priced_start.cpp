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
  double early = 1;  ///< the part that counts of an end before the longest path
  double tolls = 0;  ///< the part of prices in the optimistic costs
};
constexpr PassRules kRules[] = {{.early = 0.3, .tolls = 0}, {.early = 1, .tolls = 1}};

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
      all_bytes_ += static_cast<double>(held_bytes(graph.op(op)));
    }
    scale_ms_ = work_ms / std::max(all_bytes_, 1.0);
  }

  /// Returns true if some device cannot hold all operators.
  bool memory_binds() const {
    if (!empty_.limited()) return false;
    for (std::size_t d = 0; d < devices(); ++d) {
      if (room_of(d) < all_bytes_) return true;
    }
    return false;
  }

  void passes_by(const PassRules& rules, std::size_t passes) {
    price_ms_.assign(devices(), 0);
    for (std::size_t i = 0; i < passes && !deadline_.expired(); ++i) {
      const auto demand = pass(rules);
      const double step = kPriceStep * scale_ms_ / (1 + static_cast<double>(i) / kStepsToHalf);
      for (std::size_t d = 0; d < devices(); ++d) {
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
  double toll_ms(OpId op, DeviceId device) const {
    return price_ms_[device.index()] * static_cast<double>(empty_.bytes(op));
  }

  /// Places all operators. Returns the demand by device; nothing if one found no device, or if the
  /// deadline expired.
  std::optional<std::vector<double>> pass(const PassRules& rules) {
    const std::vector<double> after = optimistic_costs(
        graph_, costs_,
        [&](OpId op, DeviceId device) { return rules.tolls * toll_ms(op, device); });
    EarliestFinish placed(graph_, costs_);
    std::vector<double> full_at(devices(), 0), held(devices(), 0);  // full_at: share of all bytes
    double path_ms = 0, placed_bytes = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (deadline_.expired_at(i, kOperatorsPerCheck)) return std::nullopt;
      const OpId op = order_[i];
      note_full(op, placed.placement(), placed_bytes / all_bytes_, full_at);
      const double* const rest = &after[op.index() * devices()];
      const auto device = placed.place_by(op, [&](DeviceId to, double finish_ms) {
        const double end = finish_ms + rest[to.index()];
        const double counts = end > path_ms ? end : path_ms + rules.early * (end - path_ms);
        return counts + toll_ms(op, to);
      });
      if (!device) return std::nullopt;
      path_ms = std::max(path_ms, placed.finish_ms(op) + rest[device->index()]);
      const auto bytes = static_cast<double>(held_bytes(graph_.op(op)));
      placed_bytes += bytes;
      held[device->index()] += bytes;
    }
    if (placed.latency_ms() < least_ms_) {
      least_ms_ = placed.latency_ms();
      shortest_ = placed.schedule();
    }
    for (std::size_t d = 0; d < devices(); ++d) {
      held[d] = full_at[d] > 0 ? 1 / full_at[d] : held[d] / room_of(d);
    }
    return held;
  }

  /// Notes the devices that lack memory for an operator for the first time, when this share of all
  /// bytes is placed.
  void note_full(OpId op, const Placement& now, double share, std::vector<double>& full_at) const {
    for (std::size_t d = 0; d < devices(); ++d) {
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
  double scale_ms_ = 0;           ///< mean time of a byte's operator, per byte
  std::vector<double> price_ms_;  // of a byte, by device
  std::optional<Schedule> shortest_;
  double least_ms_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Schedule schedule_by_prices(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  const std::size_t cells = std::max<std::size_t>(graph.size() * costs.platform().size(), 1);
  const std::size_t passes = std::min(kPlacements / cells, kMostPasses);
  if (passes < kFewestPasses) throw InputError("too many operators for passes with prices");
  PricedList list(graph, costs, deadline);
  if (!list.memory_binds()) throw InputError("memory does not bind");
  for (const PassRules& rules : kRules) list.passes_by(rules, passes);
  std::optional<Schedule> shortest = list.take_shortest();
  if (!shortest) throw InputError("no pass with prices finds a device for each operator");
  return std::move(*shortest);
}

}  // namespace hios::scheduler::best
