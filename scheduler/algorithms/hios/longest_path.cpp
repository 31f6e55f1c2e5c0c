#include "scheduler/algorithms/hios/longest_path.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "scheduler/list/incremental/incremental_timeline.h"
#include "scheduler/list/incremental/shifting_timeline.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// Alg. 1 of Kundu and Shu, HIOS (HIOS-LP without its intra-GPU part): the longest path among the
// unscheduled operators goes to one device as a whole, so that its transfers vanish. A trial on
// each device decides which; ties go to the lowest.
//
// There are about 0.4·n paths, so neither the search for the next one (valid_path) nor a trial may
// start from scratch. A trial places all scheduled operators and the path's in priority order, each
// after the operators already on its device. A path only delays the others (incremental_timeline),
// so a trial propagates delays and ends as soon as its latency cannot be the least. Devices whose
// work alone excludes them are not tried. The decisions equal, tie for tie, those of placing
// everything from scratch (tests/scheduler/algorithms/hios/fast_forms_test.cpp). A round costs its
// delays, O(M·(V + E)·log) at most. A device that is always busy delays all its later operators by
// the same time, in every round; in large graphs they are blocks that are delayed in one step
// (shifting_timeline).
//
// With `insertion`, an added operator may also let others start earlier. So every trial places all
// operators from the path's first one on: O(V²·M·(V + E)) in all.
//
// With unlike devices, a path is cut to the longest prefix that some device can take: it can run
// all of it, has room for it, and has the operators that share its labels. The rest stays
// unscheduled. The prefix is valid, since its last operator may touch anything.
//
// Not optimal: paths are never moved again, and priorities ignore the mapping. Tests:
// tests/scheduler/algorithms/hios/longest_path_test.cpp (the paper's example, Fig. 4) and
// tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// Larger graphs round times to multiples of 2^-k ms, so that a trial need not touch every operator
/// that it delays. Only latencies that differ by rounding may be ordered in another way then.
constexpr std::size_t kExactOperators = 10'000;

/// Trials of a path on a device: the latency of all scheduled operators with it.
class Trials {
 public:
  virtual ~Trials() = default;
  /// Returns a lower bound, up to rounding, of try_adding() without a limit.
  virtual double at_least(const std::vector<OpId>& path, DeviceId device) const = 0;
  /// Returns the latency, or infinity once it is sure to be `limit` or more. REQUIRES: the path is
  /// not scheduled yet.
  virtual double try_adding(const std::vector<OpId>& path, DeviceId device, double limit) = 0;
  /// Remembers the last trial, which was below its limit, for keep().
  virtual void remember() = 0;
  virtual void keep() = 0;
  /// Returns the schedule of all scheduled operators, one a stage.
  virtual Schedule schedule() const = 0;
};

template <class Timeline>
class AppendTrials final : public Trials {
 public:
  AppendTrials(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order)
      : timeline_(graph, costs, order) {}
  double at_least(const std::vector<OpId>& path, DeviceId device) const override {
    return timeline_.at_least(path, device);
  }
  double try_adding(const std::vector<OpId>& path, DeviceId device, double limit) override {
    return timeline_.try_adding(path, device, limit);
  }
  void remember() override { timeline_.remember(); }
  void keep() override { timeline_.keep(); }
  Schedule schedule() const override { return timeline_.schedule(); }

 private:
  Timeline timeline_;
};

/// Trials with insertion. Operators before the path's first one keep their times, since nothing
/// before them changes.
class InsertionTrials final : public Trials {
 public:
  InsertionTrials(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order)
      : position_(positions(order)),
        device_of_(graph.size()),
        start_ms_(graph.size(), 0),
        timeline_(graph, costs, true) {}

  double at_least(const std::vector<OpId>&, DeviceId) const override { return 0; }

  double try_adding(const std::vector<OpId>& path, DeviceId device, double limit) override {
    const auto by_priority = [this](OpId a, OpId b) {
      return position_[a.index()] < position_[b.index()];
    };
    tried_ = mapped_;
    tried_.insert(tried_.end(), path.begin(), path.end());
    std::inplace_merge(tried_.begin(), tried_.begin() + static_cast<long>(mapped_.size()),
                       tried_.end(), by_priority);
    const auto first = std::lower_bound(tried_.begin(), tried_.end(), path.front(), by_priority);
    for (OpId op : path) device_of_[op.index()] = device;
    timeline_.clear();
    for (auto op = tried_.begin(); op != first; ++op) {
      timeline_.place_at(*op, *device_of_[op->index()], start_ms_[op->index()]);
    }
    for (auto op = first; op != tried_.end(); ++op) {
      timeline_.place(*op, *device_of_[op->index()]);
      if (timeline_.latency_ms() >= limit) return kInfinity;
    }
    path_ = path;
    device_ = device;
    return timeline_.latency_ms();
  }

  void remember() override {
    best_device_ = device_;
    best_start_ms_.assign(device_of_.size(), 0);
    for (OpId op : tried_) best_start_ms_[op.index()] = timeline_.start_ms(op);
  }

  void keep() override {
    for (OpId op : path_) device_of_[op.index()] = best_device_;
    mapped_ = tried_;
    start_ms_ = best_start_ms_;
  }

  Schedule schedule() const override {
    ListTimeline all = timeline_;
    all.clear();
    for (OpId op : mapped_) all.place(op, *device_of_[op.index()]);
    return all.schedule();
  }

 private:
  std::vector<std::size_t> position_;  // in priority order, by operator
  std::vector<OpId> mapped_, tried_;   // in priority order: scheduled; with the path
  std::vector<OpId> path_;
  std::vector<std::optional<DeviceId>> device_of_;
  std::vector<double> start_ms_, best_start_ms_;
  DeviceId device_, best_device_;
  ListTimeline timeline_;
};

class PathMapper {
 public:
  PathMapper(const Graph& graph, const CostModel& costs, const LongestPathOptions& options)
      : graph_(graph),
        costs_(costs),
        order_(priority_order(graph, costs)),
        search_(graph, costs, order_, options.through_touching),
        placement_(graph, costs),
        device_of_(graph.size()) {
    if (options.insertion) {
      trials_ = std::make_unique<InsertionTrials>(graph, costs, order_);
    } else if (graph.size() > kExactOperators && !costs.charges_receivers()) {
      trials_ = std::make_unique<AppendTrials<ShiftingTimeline>>(graph, costs, order_);
    } else {
      trials_ = std::make_unique<AppendTrials<IncrementalTimeline>>(graph, costs, order_);
    }
  }

  bool done() const { return mapped_ == graph_.size(); }

  /// Runs one round of Alg. 1's loop (lines 5 to 16). Returns false if no device can take the path.
  bool map_next_path(const std::function<void(const PathTrial&)>& observe) {
    PathTrial round;
    round.path = search_.longest();
    const std::vector<bool> able = cut_to_ability(round.path);
    const std::vector<OpId>& path = round.path.operators;
    if (path.empty()) return false;
    try_devices(able, round, observe != nullptr);
    trials_->keep();
    search_.schedule(path);
    for (OpId op : path) {
      device_of_[op.index()] = round.chosen;
      placement_.place(op, round.chosen);
    }
    mapped_ += path.size();
    if (observe) observe(round);
    return true;
  }

  Schedule schedule() const { return trials_->schedule(); }
  const std::vector<OpId>& order() const { return order_; }
  const std::vector<std::optional<DeviceId>>& device_of() const { return device_of_; }

 private:
  /// Chooses the device with the least latency, the lowest among equals. Promising devices come
  /// first, so that most others need no trial or a short one.
  void try_devices(const std::vector<bool>& able, PathTrial& round, bool to_the_end) {
    constexpr double kMargin = 1e-9;  // more than a bound's rounding error
    const std::vector<OpId>& path = round.path.operators;
    std::vector<std::pair<double, DeviceId>> devices;
    for (std::size_t d = 0; d < able.size(); ++d) {
      if (able[d]) devices.emplace_back(trials_->at_least(path, DeviceId(d)), DeviceId(d));
    }
    std::sort(devices.begin(), devices.end());
    if (to_the_end) round.latency_ms.assign(able.size(), kInfinity);
    double least = kInfinity;
    for (const auto& [bound, device] : devices) {
      if (!to_the_end && bound * (1 - kMargin) > least) break;
      // On a lower device, an equal latency suffices.
      double limit = device < round.chosen ? std::nextafter(least, kInfinity) : least;
      if (to_the_end) limit = kInfinity;
      const double latency = trials_->try_adding(path, device, limit);
      if (to_the_end) round.latency_ms[device.index()] = latency;
      if (latency > least || (latency == least && !(device < round.chosen))) continue;
      least = latency;
      round.chosen = device;
      trials_->remember();
    }
  }

  /// Cuts the path to the longest prefix that some device can take; returns these devices.
  std::vector<bool> cut_to_ability(ValidPath& path) const {
    std::vector<std::size_t> length;
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      length.push_back(placement_.fitting(path.operators, DeviceId(d)));
    }
    path.operators.resize(*std::max_element(length.begin(), length.end()));
    std::vector<bool> able;
    for (std::size_t fitting : length) able.push_back(fitting == path.operators.size());
    return able;
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<OpId> order_;
  ValidPathSearch search_;
  Placement placement_;
  std::unique_ptr<Trials> trials_;
  std::vector<std::optional<DeviceId>> device_of_;  // by operator, where mapped
  std::size_t mapped_ = 0;
};

}  // namespace

TimedSchedule map_longest_paths(const Graph& graph, const CostModel& costs,
                                const LongestPathOptions& options, const Deadline& deadline,
                                const std::function<void(const PathTrial&)>& observe) {
  PathMapper mapper(graph, costs, options);
  while (!mapper.done()) {
    if (deadline.expired()) {
      return {list_schedule(graph, costs, mapper.order(), mapper.device_of()), true};
    }
    if (mapper.map_next_path(observe)) continue;
    const auto packed = pack_operators(graph, costs, "longest paths", deadline);
    return {list_schedule(graph, costs, mapper.order(), packed), false};
  }
  return {mapper.schedule(), false};
}

}  // namespace hios::scheduler
