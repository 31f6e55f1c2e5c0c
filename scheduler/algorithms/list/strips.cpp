#include "scheduler/algorithms/list/strips.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/algorithms/list/strip_orders.h"
#include "scheduler/list/mapped_dispatch.h"
#include "scheduler/list/mapping.h"
#include "scheduler/list/placement.h"

// Where transfers are expensive, list scheduling decides too early: no single operator gains from
// another device. A strip does, as a whole. Strips begin one after the other, as soon as what they
// need of earlier strips has come, and then run at the same time.
//
// Each border between two strips may be anywhere near the position that divides the work by the
// devices' speeds. There it is where the tensors that cross it take least. These ranges do not
// overlap, so borders are independent and the dynamic program over them is one minimum each.
//
// Even shares are not the best: early strips run while later ones wait. So the borders of the
// shortest few schedules are moved, one or all from one on, by smaller and smaller steps, as long
// as that shortens the schedule.
//
// Cost: a schedule for each order and number of strips, and for each step of a border:
// O((V + E)·log V), as many as kMostWork permits. Not optimal.
// Tests: tests/scheduler/algorithms/list/strips_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

constexpr double kExpensive = 2;            ///< mean transfer over mean operator
constexpr double kSlack = 0.25;             ///< half of a border's range, as a share of a strip
constexpr std::size_t kFewDevices = 16;     ///< all numbers of strips are tried up to here
constexpr std::size_t kMoved = 3;           ///< schedules whose borders are moved
constexpr double kMostWork = 2e7;           ///< operators and edges of all schedules tried
constexpr double kMostWorkOfMoves = 0.6e7;  ///< of those, for moved borders

/// An order, cut into strips.
struct Strips {
  const std::vector<OpId>* order = nullptr;
  std::vector<std::size_t> begins;  ///< by strip; the first one's is 0
  std::vector<DeviceId> devices;    ///< by strip
  double latency_ms = 0;
};

class StripSearch {
 public:
  StripSearch(const Graph& graph, const CostModel& costs, const Deadline& deadline)
      : graph_(graph),
        costs_(costs),
        deadline_(deadline),
        empty_(graph, costs),
        dispatch_(graph, costs),
        step_work_(static_cast<double>(graph.size() + graph.edge_count())) {
    find_devices();
  }

  TimedSchedule run() {
    if (fastest_.size() < 2) throw InputError("strips: there is one device only");
    const std::vector<std::vector<OpId>> orders = strip_orders(graph_, costs_);
    for (const std::vector<OpId>& order : orders) {
      weigh(order);
      for (const std::size_t count : counts()) {
        if (out_of(kMostWork)) break;
        offer(cut(order, count));
      }
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Strips& a, const Strips& b) { return a.latency_ms < b.latency_ms; });
    if (found_.empty()) throw InputError("strips: an operator is left without a device");
    found_.resize(std::min(found_.size(), kMoved));
    for (Strips& strips : found_) {
      work_ = 0;
      move_borders(strips);
    }
    const Strips& best = *std::min_element(
        found_.begin(), found_.end(),
        [](const Strips& a, const Strips& b) { return a.latency_ms < b.latency_ms; });
    dispatch_.latency_ms(*mapping_of(best));
    return {dispatch_.schedule(), deadline_.expired()};
  }

 private:
  bool out_of(double most_work) const {
    return !found_.empty() && (work_ + step_work_ > most_work || deadline_.expired());
  }

  /// Lists the devices that run some operator, the fastest first.
  void find_devices() {
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      double sum = 0;
      bool runs_some = false;
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        const OpId op(i);
        const bool able = costs_.can_run(op, DeviceId(d));
        sum +=
            able ? costs_.operator_ms(op, DeviceId(d)) : kCannotRun * costs_.mean_operator_ms(op);
        runs_some = runs_some || able;
      }
      work_on_.push_back(std::max(sum, std::numeric_limits<double>::min()));
      if (runs_some) fastest_.emplace_back(d);
    }
    std::stable_sort(fastest_.begin(), fastest_.end(), [&](DeviceId a, DeviceId b) {
      return work_on_[a.index()] < work_on_[b.index()];
    });
  }

  /// Returns the numbers of strips to be tried.
  std::vector<std::size_t> counts() const {
    const std::size_t devices = fastest_.size();
    std::vector<std::size_t> counts{devices};
    for (std::size_t k = 2; k < devices && devices <= kFewDevices; ++k) counts.push_back(k);
    for (std::size_t k = devices / 2; devices > kFewDevices && k >= 2; k /= 2) counts.push_back(k);
    counts.push_back(2 * devices);
    return counts;
  }

  /// Sums the work and the tensors across each position of an order.
  void weigh(const std::vector<OpId>& order) {
    const std::vector<std::size_t> position = positions_in(order);
    work_before_.assign(1, 0);
    for (const OpId op : order) {
      work_before_.push_back(work_before_.back() + costs_.mean_operator_ms(op));
    }
    std::vector<double> change(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      double ms = 0;
      std::size_t last = i;
      for (const EdgeId e : graph_.out_edges(order[i])) {
        ms = std::max(ms, costs_.mean_transfer_ms(e));
        last = std::max(last, position[graph_.edge(e).to.index()]);
      }
      change[i + 1] += ms;
      if (last + 1 < change.size()) change[last + 1] -= ms;
    }
    crossing_ms_.resize(change.size());
    std::partial_sum(change.begin(), change.end(), crossing_ms_.begin());
  }

  static std::vector<std::size_t> positions_in(const std::vector<OpId>& order) {
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i].index()] = i;
    return position;
  }

  /// Cuts the order into strips, one a device of the fastest, or several in turns.
  Strips cut(const std::vector<OpId>& order, std::size_t count) const {
    const std::size_t used = std::min(count, fastest_.size());
    std::vector<DeviceId> devices(fastest_.begin(),
                                  fastest_.begin() + static_cast<std::ptrdiff_t>(used));
    std::sort(devices.begin(), devices.end());
    Strips strips{&order, {}, {}, 0};
    double all = 0;
    for (std::size_t j = 0; j < count; ++j) {
      strips.devices.push_back(devices[j % used]);
      all += 1 / work_on_[strips.devices.back().index()];
    }
    double before = 0, previous = 0;
    for (const DeviceId device : strips.devices) {
      const double share = 1 / work_on_[device.index()] / all;
      strips.begins.push_back(
          strips.begins.empty() ? 0 : border(before, kSlack * std::min(previous, share)));
      before += share;
      previous = share;
    }
    return strips;
  }

  /// Returns the position that the least transfers cross, at this share of the work, plus or minus
  /// `slack`.
  std::size_t border(double share, double slack) const {
    const auto at = [&](double part) {
      const auto found =
          std::lower_bound(work_before_.begin(), work_before_.end(), part * work_before_.back());
      return std::min(static_cast<std::size_t>(found - work_before_.begin()),
                      work_before_.size() - 1);
    };
    const std::size_t middle = at(share);
    std::size_t best = middle;
    for (std::size_t p = at(share - slack); p <= at(share + slack); ++p) {
      if (crossing_ms_[p] < crossing_ms_[best]) best = p;
    }
    return best;
  }

  /// Returns the mapping; nothing where labels and memory leave an operator no device.
  std::optional<Mapping> mapping_of(const Strips& strips) const {
    Placement placement = empty_;
    Mapping mapping(graph_.size());
    std::size_t strip = 0;
    for (std::size_t i = 0; i < strips.order->size(); ++i) {
      while (strip + 1 < strips.begins.size() && strips.begins[strip + 1] <= i) ++strip;
      const OpId op = (*strips.order)[i];
      std::optional<DeviceId> device = strips.devices[strip];
      if (!placement.may_go(op, *device)) device = another_device(op, placement);
      if (!device) return std::nullopt;
      placement.place(op, *device);
      mapping[op.index()] = *device;
    }
    return mapping;
  }

  /// Returns the device that is fastest for an operator among those that may take it.
  std::optional<DeviceId> another_device(OpId op, const Placement& placement) const {
    std::optional<DeviceId> best;
    for (const DeviceId device : fastest_) {
      if (!placement.may_go(op, device)) continue;
      if (!best || costs_.operator_ms(op, device) < costs_.operator_ms(op, *best)) best = device;
    }
    return best;
  }

  /// Computes the latency; returns false where an operator is left without a device.
  bool time(Strips& strips) {
    const std::optional<Mapping> mapping = mapping_of(strips);
    work_ += step_work_;
    if (!mapping) return false;
    strips.latency_ms = dispatch_.latency_ms(*mapping);
    return true;
  }

  void offer(Strips strips) {
    if (time(strips)) found_.push_back(std::move(strips));
  }

  /// Shifts a border, or it and all later ones; returns false where strips would overlap.
  static bool shift(Strips& strips, std::size_t strip, std::ptrdiff_t by, bool all_later) {
    const std::size_t end = all_later ? strips.begins.size() : strip + 1;
    for (std::size_t j = strip; j < end; ++j) {
      const auto moved = static_cast<std::ptrdiff_t>(strips.begins[j]) + by;
      if (moved < 0 || moved > static_cast<std::ptrdiff_t>(strips.order->size())) return false;
      strips.begins[j] = static_cast<std::size_t>(moved);
    }
    return std::is_sorted(strips.begins.begin(), strips.begins.end());
  }

  void move_borders(Strips& strips) {
    const std::size_t most = graph_.size() / (4 * strips.begins.size());
    for (auto step = static_cast<std::ptrdiff_t>(most); step > 0; step /= 2) {
      for (bool shorter = true; shorter;) {
        shorter = false;
        for (std::size_t strip = 1; strip < strips.begins.size(); ++strip) {
          for (const bool all_later : {false, true}) {
            for (const std::ptrdiff_t by : {step, -step}) {
              if (out_of(kMostWorkOfMoves / kMoved)) return;
              Strips moved = strips;
              if (!shift(moved, strip, by, all_later) || !time(moved)) continue;
              if (moved.latency_ms >= strips.latency_ms) continue;
              strips = std::move(moved);
              shorter = true;
            }
          }
        }
      }
    }
  }

  static constexpr double kCannotRun = 10;  ///< times the mean

  const Graph& graph_;
  const CostModel& costs_;
  const Deadline& deadline_;
  Placement empty_;
  MappedDispatch dispatch_;
  double step_work_;                               // of one schedule
  double work_ = 0;                                // of all schedules so far
  std::vector<double> work_on_;                    // by device: ms of all operators
  std::vector<DeviceId> fastest_;                  // the fastest first
  std::vector<double> work_before_, crossing_ms_;  // by position of the present order
  std::vector<Strips> found_;
};

}  // namespace

bool transfers_are_expensive(const Graph& graph, const CostModel& costs) {
  if (graph.edge_count() == 0) return false;
  double operators_ms = 0, transfers_ms = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) operators_ms += costs.mean_operator_ms(OpId(i));
  for (std::size_t e = 0; e < graph.edge_count(); ++e) {
    transfers_ms += costs.mean_transfer_ms(EdgeId(e));
  }
  return transfers_ms / static_cast<double>(graph.edge_count()) >=
         kExpensive * operators_ms / static_cast<double>(graph.size());
}

TimedSchedule schedule_strips(const Graph& graph, const CostModel& costs,
                              const Deadline& deadline) {
  return StripSearch(graph, costs, deadline).run();
}

}  // namespace hios::scheduler
