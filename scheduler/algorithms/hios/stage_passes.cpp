#include "scheduler/algorithms/hios/stage_passes.h"

#include <algorithm>
#include <utility>

#include "scheduler/list/receipts.h"
#include "scheduler/structures/busy_times.h"
#include "scheduler/structures/numbers.h"
#include "scheduler/structures/saturating_sum.h"

// Passes back and forth. A pass from the end has time reversed: a stage comes after all its
// consumers, which are its inputs there, and finishes where it starts in truth. Each pass takes the
// stages by the last one's finish, the latest first, so that a stage that could be late comes late.
// That order is topological: a consumer finishes no earlier than its producer starts and ends, and
// equal ones keep their order reversed. A stage goes into the first gap of a device that holds it.
//
// The last pass also tells how far each consumer is from the other end, and where. So the
// look-ahead of a stage on a device is the longest way from there to that end: over its consumers,
// the transfer to the consumer's device and the consumer's finish in the last pass. It keeps
// producers near expensive consumers; without it devices are filled more evenly. Neither is always
// better, so each pass runs by both rules and keeps the shorter result.
//
// Where receivers copy, a pass forwards places stages with their copies (Receipts). A pass from the
// end meets a stage before its producers: it reserves the copies of the tensors that came from
// other devices in the last pass, at the last stage on the device that reads them.
//
// Memory: a pass begins with all stages on their devices and moves one at a time, if the memory
// that is then free holds it. So every schedule in between respects all limits. Stages of operators
// that share a label with others stay on their device.
//
// A pass is O(V·(M + gaps) + E·M). Tests: tests/scheduler/algorithms/hios/stage_passes_test.cpp.

namespace hios::scheduler {

StagePasses::StagePasses(const Graph& graph, const CostModel& costs, StageList list)
    : graph_(graph),
      costs_(costs),
      devices_(costs.platform().size()),
      stages_(std::move(list.stages)),
      placement_(graph, costs) {
  std::vector<Index> stage_of(graph.size());
  for (Index i = 0; i < stages_.size(); ++i) {
    for (const Group& group : stages_[i].groups) {
      for (const OpId op : group) stage_of[op.index()] = i;
    }
  }
  arcs_ = FlatGraph<Arc>(stages_.size(), [&](std::size_t stage, auto add) {
    for (const Group& group : stages_[stage].groups) {
      for (const OpId op : group) {
        for (const EdgeId e : graph.in_edges(op)) {
          const Index from = stage_of[graph.edge(e).from.index()];
          if (from != stage) add(Arc{from, e});
        }
      }
    }
  });
  for (const Stage& stage : stages_) add_costs(stage);
  times_.backwards = true;  // the first placing runs forwards, in the list's order
  times_.device = std::move(list.devices);
  times_.start_ms.assign(stages_.size(), 0);
  times_.finish_ms.assign(stages_.size(), 0);
  for (auto i = static_cast<Index>(stages_.size()); i-- > 0;) times_.order.push_back(i);
  Times first;
  place(Rule::kPresent, next_order(), first, {});
  times_ = std::move(first);
}

/// Adds a stage's row of costs, its bytes and whether it stays.
void StagePasses::add_costs(const Stage& stage) {
  const std::vector<OpId> operators = operators_of({{stage}, {}});
  const auto shares_label = [this](OpId op) { return placement_.unit(op).has_value(); };
  stays_.push_back(std::any_of(operators.begin(), operators.end(), shares_label));
  if (placement_.limited()) {
    Bytes bytes = 0;
    for (const OpId op : operators) bytes = saturating_sum(bytes, held_bytes(graph_.op(op)));
    bytes_.push_back(bytes);
  }
  first_.push_back(operators.front());
  row_.push_back(operators.size() == 1 ? kAlone : static_cast<Index>(costs_ms_.size() / devices_));
  for (std::size_t d = 0; d < devices_ && operators.size() > 1; ++d) {
    const DeviceId device(d);
    const bool able = static_cast<std::size_t>(std::max(
                          1, costs_.platform().device(device).streams)) >= stage.groups.size() &&
                      std::all_of(operators.begin(), operators.end(),
                                  [&](OpId op) { return costs_.can_run(op, device); });
    costs_ms_.push_back(able ? costs_.stage_ms(stage, device) : kInfinity);
  }
}

double StagePasses::cost_ms(Index stage, DeviceId device) const {
  if (row_[stage] != kAlone) return costs_ms_[row_[stage] * devices_ + device.index()];
  return costs_.operator_ms(first_[stage], device);
}

/// Returns the transfer of an input from its stage's device, `other`, in either direction of time.
double StagePasses::transfer_ms(const Arc& arc, bool backwards, DeviceId other,
                                DeviceId own) const {
  return backwards ? costs_.transfer_ms(arc.edge, own, other)
                   : costs_.transfer_ms(arc.edge, other, own);
}

/// Returns the order of the next pass.
std::vector<StagePasses::Index> StagePasses::next_order() const {
  std::vector<Index> order(times_.order.rbegin(), times_.order.rend());
  std::stable_sort(order.begin(), order.end(), [this](Index a, Index b) {
    return std::pair(times_.finish_ms[a], times_.start_ms[a]) >
           std::pair(times_.finish_ms[b], times_.start_ms[b]);
  });
  return order;
}

/// The stages placed by one pass, one after the other.
class StagePasses::Placing {
 public:
  /// `last`: the times of the pass before, in the other direction.
  Placing(const StagePasses& passes, const Times& last, Rule rule, Times& next)
      : passes_(passes),
        last_(last),
        rule_(rule),
        next_(next),
        slots_(passes.devices_),
        receipts_(passes.costs_) {
    next_.backwards = !last.backwards;
    next_.device = last.device;
    next_.start_ms.assign(last.device.size(), 0);
    next_.finish_ms.assign(last.device.size(), 0);
    next_.length_ms = 0;
    if (passes_.bytes_.empty()) return;
    for (std::size_t d = 0; d < passes_.devices_; ++d) {
      room_.push_back(passes_.placement_.room(DeviceId(d)));
    }
    for (std::size_t i = 0; i < last.device.size(); ++i) take(last.device[i], passes_.bytes_[i]);
  }

  void place(Index stage) {
    const DeviceId present = last_.device[stage];
    DeviceId best = present;
    double best_ms = kInfinity;
    Receipts::Begin best_begin{0, 0};
    for (std::size_t d = 0; d < passes_.devices_; ++d) {
      const DeviceId device(d);
      if (device != present && !may_move(stage, device)) continue;
      const double cost = passes_.cost_ms(stage, device);
      const Receipts::Begin begin = earliest(stage, device, cost);
      double ms = begin.start_ms + cost;
      if (rule_ == Rule::kWithLookAhead) ms += rest_ms(stage, device);
      if (ms >= best_ms) continue;
      best = device;
      best_ms = ms;
      best_begin = begin;
    }
    if (best != present && !room_.empty()) {
      give(present, passes_.bytes_[stage]);
      take(best, passes_.bytes_[stage]);
    }
    put(stage, best, best_begin);
  }

 private:
  bool may_move(Index stage, DeviceId device) const {
    if (rule_ == Rule::kPresent || passes_.stays_[stage]) return false;
    if (passes_.cost_ms(stage, device) == kInfinity) return false;
    return room_.empty() || passes_.bytes_[stage] <= room_[device.index()];
  }
  void take(DeviceId device, Bytes bytes) {
    if (room_[device.index()] != Placement::kNoLimit) room_[device.index()] -= bytes;
  }
  void give(DeviceId device, Bytes bytes) {
    if (room_[device.index()] != Placement::kNoLimit) room_[device.index()] += bytes;
  }

  Receipts::Begin earliest(Index stage, DeviceId device, double cost) {
    const bool backwards = next_.backwards;
    if (receipts_.count() && !backwards) {
      list_inputs(stage, next_);
      return receipts_.in_gap(inputs_, device, slots_[device.index()], cost);
    }
    if (receipts_.count()) cost += reserved_copies_ms(stage, device);
    double ready = backwards ? 0 : passes_.costs_.launch_ms(device);
    for (const Arc& arc : passes_.inputs(stage, backwards)) {
      ready =
          std::max(ready, next_.finish_ms[arc.other] +
                              passes_.transfer_ms(arc, backwards, next_.device[arc.other], device));
    }
    const double start = slots_[device.index()].first_gap_ms(ready, cost);
    return {start, start};
  }

  /// Lists the stage's inputs in the direction of the data, by the devices and ends of `times`.
  void list_inputs(Index stage, const Times& times) {
    inputs_.clear();
    for (const Arc& arc : passes_.inputs(stage, /*backwards=*/false)) {
      inputs_.push_back({arc.edge, times.device[arc.other], times.finish_ms[arc.other]});
    }
  }

  /// Returns the time of the copies that no stage after this one makes, by the last pass's devices.
  double reserved_copies_ms(Index stage, DeviceId device) {
    list_inputs(stage, last_);
    return receipts_.missing_ms(inputs_, device);
  }

  /// Returns the longest way from the stage's end on the device to the other end of the schedule.
  double rest_ms(Index stage, DeviceId device) const {
    double rest = 0;
    for (const Arc& arc : passes_.inputs(stage, last_.backwards)) {
      rest = std::max(
          rest, last_.finish_ms[arc.other] +
                    passes_.transfer_ms(arc, last_.backwards, last_.device[arc.other], device));
    }
    return rest;
  }

  void put(Index stage, DeviceId device, Receipts::Begin begin) {
    const double finish = begin.start_ms + passes_.cost_ms(stage, device);
    double free = finish;
    if (receipts_.count()) {
      if (next_.backwards) free += reserved_copies_ms(stage, device);
      if (!next_.backwards) list_inputs(stage, next_);
      receipts_.receive(inputs_, device, begin.wait_ms, finish);
    }
    next_.device[stage] = device;
    next_.start_ms[stage] = begin.start_ms;
    next_.finish_ms[stage] = finish;
    // The device launches before its first stage, so after the last one of a pass from the end.
    const double launch = next_.backwards ? passes_.costs_.launch_ms(device) : 0;
    next_.length_ms = std::max(next_.length_ms, finish + launch);
    slots_[device.index()].insert(begin.wait_ms, free, stage);
  }

  const StagePasses& passes_;
  const Times& last_;
  Rule rule_;
  Times& next_;
  std::vector<BusyTimes<Index>> slots_;  // by device
  Receipts receipts_;
  std::vector<Receipts::Input> inputs_;  // of the stage in question
  std::vector<Bytes> room_;              // by device: free memory; empty without limits
};

bool StagePasses::place(Rule rule, const std::vector<Index>& order, Times& next,
                        const Deadline& deadline) const {
  Placing placing(*this, times_, rule, next);
  next.order = order;
  for (std::size_t i = 0; i < next.order.size(); ++i) {
    if (deadline.expired_at(i, kOperatorsPerCheck)) return false;
    placing.place(next.order[i]);
  }
  return true;
}

bool StagePasses::turn(const Deadline& deadline) {
  const std::vector<Index> order = next_order();
  Times earliest, looking_ahead;
  if (!place(Rule::kEarliest, order, earliest, deadline)) return false;
  if (!place(Rule::kWithLookAhead, order, looking_ahead, deadline)) return false;
  const bool shorter = looking_ahead.length_ms < earliest.length_ms;
  times_ = shorter ? std::move(looking_ahead) : std::move(earliest);
  return true;
}

StageList StagePasses::list() const {
  std::vector<Index> order = times_.order;
  if (times_.backwards) {
    order = next_order();
  } else {
    std::stable_sort(order.begin(), order.end(), [this](Index a, Index b) {
      return std::pair(times_.start_ms[a], times_.finish_ms[a]) <
             std::pair(times_.start_ms[b], times_.finish_ms[b]);
    });
  }
  StageList list;
  for (const Index i : order) {
    list.stages.push_back(stages_[i]);
    list.devices.push_back(times_.device[i]);
  }
  return list;
}

}  // namespace hios::scheduler
