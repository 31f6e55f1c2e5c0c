#include "scheduler/batches/each_operator.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/batches/sized_times.h"
#include "scheduler/list/mapping.h"
#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// O(V·S·in-batches) for S shares of P parts among M devices, C(P + M - 1, P) at most; with more
// than kMostDevices devices, those where one part would be over first. Shares that are over later
// than the best so far are not completed.
//
// Test: tests/scheduler/batches/each_operator_test.cpp

namespace hios::scheduler {
namespace {

enum class ShareRule { kTimes, kEnds };
constexpr std::size_t kMostDevices = 6;

class EachOperator {
 public:
  EachOperator(const DivisibleProblem& problem, ShareRule rule)
      : problem_(problem),
        graph_(*problem.graphs->whole()),
        times_(problem),
        rule_(rule),
        placed_(graph_.size()),
        free_ms_(problem.platform->size(), 0),
        stages_(problem.platform->size()) {}

  std::optional<TimedDivision> run(const std::vector<OpId>& order, const Deadline& deadline) {
    for (const OpId op : order) {
      if (deadline.expired()) return {};
      best_ = {};
      share_.clear();
      devices_ = candidates(op);
      extend(op, 0, 0, 0, 0);
      if (best_.share.empty()) return {};
      place(op);
    }
    return timed(problem_, stages_);
  }

 private:
  struct PlacedBatch {
    std::size_t begin, end;  ///< parts
    DeviceId device;
    double end_ms = 0;
  };
  struct Share {
    double over_ms = kInfinity, sum_ms = kInfinity;  ///< of the last batch; of all batches' times
    std::vector<PlacedBatch> share = {};
  };

  /// Returns the devices that the operator may use, by number.
  std::vector<DeviceId> candidates(OpId op) const {
    const auto label = labels_.find(graph_.op(op).colocate);
    if (label != labels_.end()) return {label->second};
    std::vector<DeviceId> all;
    for (std::size_t d = 0; d < free_ms_.size(); ++d) all.emplace_back(d);
    if (all.size() <= kMostDevices) return all;
    std::vector<double> over_ms;
    for (const DeviceId device : all) over_ms.push_back(over(op, {0, 1, device}));
    std::ranges::stable_sort(
        all, [&](DeviceId a, DeviceId b) { return over_ms[a.index()] < over_ms[b.index()]; });
    all.resize(kMostDevices);
    std::ranges::sort(all);
    return all;
  }

  /// Tries all shares that continue the one at hand, whose batches hold `begin` parts, with the
  /// candidates from position `next` on.
  void extend(OpId op, std::size_t next, std::size_t begin, double over_ms, double sum_ms) {
    if (std::pair(over_ms, sum_ms) >= std::pair(best_.over_ms, best_.sum_ms)) return;
    if (begin == times_.parts()) {
      best_ = {over_ms, sum_ms, share_};
      return;
    }
    if (next == devices_.size()) return;
    const bool together = !graph_.op(op).colocate.empty();
    extend(op, next + 1, begin, over_ms, sum_ms);
    for (std::size_t end = together ? times_.parts() : begin + 1; end <= times_.parts(); ++end) {
      PlacedBatch batch{begin, end, devices_[next]};
      batch.end_ms = over(op, batch);
      if (batch.end_ms == kInfinity) continue;
      share_.push_back(batch);
      extend(op, next + 1, end, std::max(over_ms, batch.end_ms), sum_ms + ms(op, batch));
      share_.pop_back();
    }
  }

  double ms(OpId op, const PlacedBatch& batch) const {
    return times_.operator_ms(op, batch.end - batch.begin, batch.device);
  }

  /// Returns the time at which the rule thinks the batch to be over.
  double over(OpId op, const PlacedBatch& batch) const {
    return rule_ == ShareRule::kTimes ? ms(op, batch) : end_ms(op, batch);
  }

  double end_ms(OpId op, const PlacedBatch& batch) const {
    double start_ms = free_ms_[batch.device.index()];
    for (const EdgeId e : graph_.in_edges(op)) {
      for (const PlacedBatch& input : placed_[graph_.edge(e).from.index()]) {
        const std::size_t begin = std::max(input.begin, batch.begin);
        const std::size_t end = std::min(input.end, batch.end);
        if (begin >= end) continue;
        const double arrival_ms =
            input.end_ms + times_.transfer_ms(e, end - begin, input.device, batch.device);
        start_ms = std::max(start_ms, arrival_ms);
      }
    }
    return start_ms + ms(op, batch);
  }

  void place(OpId op) {
    const std::int64_t part = problem_.graphs->sizes().front();
    for (PlacedBatch& batch : best_.share) {
      batch.end_ms = end_ms(op, batch);
      free_ms_[batch.device.index()] = batch.end_ms;
      const InputRange inputs{static_cast<std::int64_t>(batch.begin) * part,
                              static_cast<std::int64_t>(batch.end) * part};
      stages_[batch.device.index()].push_back({{Batch{op, inputs}}});
    }
    const std::string& label = graph_.op(op).colocate;
    if (!label.empty()) labels_[label] = best_.share.front().device;
    placed_[op.index()] = std::move(best_.share);
  }

  const DivisibleProblem& problem_;
  const Graph& graph_;
  SizedTimes times_;
  ShareRule rule_;
  std::vector<std::vector<PlacedBatch>> placed_;  // by operator
  std::vector<double> free_ms_;                   // by device
  BatchStages stages_;
  std::map<std::string, DeviceId> labels_;
  // These belong to the operator at hand.
  std::vector<DeviceId> devices_;
  std::vector<PlacedBatch> share_;
  Share best_;
};

}  // namespace

std::optional<TimedDivision> divide_by_times(const DivisibleProblem& problem,
                                             const Deadline& deadline) {
  return EachOperator(problem, ShareRule::kTimes)
      .run(breadth_first_order(*problem.graphs->whole()), deadline);
}

std::optional<TimedDivision> divide_greedily(const DivisibleProblem& problem,
                                             const Deadline& deadline) {
  return EachOperator(problem, ShareRule::kEnds)
      .run(breadth_first_order(*problem.graphs->whole()), deadline);
}

std::optional<TimedDivision> divide_by_ranks(const DivisibleProblem& problem,
                                             const Deadline& deadline) {
  const Graph& graph = *problem.graphs->whole();
  try {
    const std::vector<OpId> order = priority_order(graph, problem.make_costs(graph));
    return EachOperator(problem, ShareRule::kEnds).run(order, deadline);
  } catch (const InputError&) {  // no ranks: some operator runs on no device with all inputs
    return {};
  }
}

std::optional<TimedDivision> divide_by_any(const DivisibleProblem& problem,
                                           const Deadline& deadline) {
  std::optional<TimedDivision> shortest;
  for (const auto rule : {divide_by_ranks, divide_greedily, divide_by_times}) {
    std::optional<TimedDivision> made = rule(problem, deadline);
    if (!made || (shortest && made->latency_ms >= shortest->latency_ms)) continue;
    shortest = std::move(made);
  }
  return shortest;
}

}  // namespace hios::scheduler
