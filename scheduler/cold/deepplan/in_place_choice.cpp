#include "scheduler/cold/deepplan/in_place_choice.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "scheduler/cold/loads.h"

// The device runs its operators in order, and stalls where one of them waits for its load. Walking
// through them, a stall is met by reads in place, of this operator or of those before: each takes
// its load out of the way of all later ones (relief), and takes longer itself (excess). The least
// excess for its relief comes first, as long as the operator ends earlier thereby. This is an
// estimate: loads are taken to move at their mean rate, and reads in place to share it; the caller
// asks simulate() for the truth. Linear, but for the queue.

namespace hios::scheduler::deepplan {
namespace {

constexpr double kLeastGainMs = 1e-9;

class StallWalk {
 public:
  StallWalk(const Plan& plan, const Schedule& schedule, const Timeline& timeline,
            const ParameterSets& parameters, const CostModel& costs)
      : plan_(plan),
        parameters_(parameters),
        costs_(costs),
        load_end_ms_(parameters.sets().size(), 0),
        store_(nearest_store(costs.platform(), plan.device, 0)) {
    double bytes = 0, end_ms = 0;
    std::size_t l = 0;
    for (const Lane& lane : schedule.weights->lanes) {
      for (const Load& load : lane) {
        const LoadTimes& times = timeline.loads[l++];
        if (load.to != plan.device) continue;
        load_end_ms_[*parameters.of(load.of)] = times.end_ms;
        bytes += static_cast<double>(times.size_bytes);
        end_ms = std::max(end_ms, times.end_ms);
      }
    }
    ms_per_byte_ = bytes > 0 ? end_ms / bytes : 0;
  }

  std::vector<std::size_t> choose(const std::vector<OpId>& order,
                                  const std::vector<bool>& refused) {
    chosen_.assign(parameters_.sets().size(), false);
    std::vector<bool> seen(parameters_.sets().size(), false);
    double free_ms = costs_.launch_ms(plan_.device);
    for (const OpId op : order) {
      const auto set = parameters_.of(op);
      const bool waits = set && !is_in_place(*set);
      if (waits && !seen[*set]) {
        seen[*set] = true;
        if (!refused[*set]) add_candidate(*set);
      }
      if (waits) meet_stall(*set, free_ms);
      const bool loads = set && !is_in_place(*set);
      free_ms = std::max(free_ms, loads ? load_end_ms_[*set] - saved_ms_ : 0) + run_ms(op);
    }
    return std::move(order_of_choice_);
  }

 private:
  struct Candidate {
    double price = 0;  ///< excess for its relief
    std::size_t set = 0;
    double excess_ms = 0, relief_ms = 0;
    bool operator>(const Candidate& other) const {
      return std::pair(price, set) > std::pair(other.price, other.set);
    }
  };

  bool is_in_place(std::size_t set) const {
    return chosen_[set] || (!plan_.in_place.empty() && plan_.in_place[set]);
  }

  double run_ms(OpId op) const {
    const auto set = parameters_.of(op);
    if (set && is_in_place(*set)) {
      return *in_place_ms(costs_.graph().op(op), costs_.platform().device(plan_.device));
    }
    return costs_.operator_ms(op, plan_.device);
  }

  void add_candidate(std::size_t set) {
    if (!store_) return;
    Candidate candidate{.set = set};
    double bytes = static_cast<double>(parameters_.sets()[set].size_bytes);
    for (const OpId op : parameters_.sets()[set].operators) {
      const Operator& reader = costs_.graph().op(op);
      const auto ms = in_place_ms(reader, costs_.platform().device(plan_.device));
      if (!ms) return;
      candidate.excess_ms += *ms - costs_.operator_ms(op, plan_.device);
      bytes -= static_cast<double>(in_place_bytes(reader));
    }
    candidate.relief_ms = bytes * ms_per_byte_;
    candidate.price = candidate.excess_ms / std::max(candidate.relief_ms, kLeastGainMs);
    candidates_.push(candidate);
    own_ = candidate;
  }

  void take(const Candidate& candidate) {
    chosen_[candidate.set] = true;
    order_of_choice_.push_back(candidate.set);
    saved_ms_ += candidate.relief_ms;
  }

  /// Chooses reads in place while they let an operator of this set end earlier.
  void meet_stall(std::size_t set, double& free_ms) {
    while (!is_in_place(set)) {
      const double start_ms = load_end_ms_[set] - saved_ms_;
      if (start_ms <= free_ms + kLeastGainMs) return;
      while (!candidates_.empty() && chosen_[candidates_.top().set]) candidates_.pop();
      if (candidates_.empty()) return;
      const Candidate cheapest = candidates_.top();
      if (cheapest.set != set) {
        const double after_ms =
            std::max(free_ms + cheapest.excess_ms, start_ms - cheapest.relief_ms);
        if (after_ms < start_ms - kLeastGainMs) {
          free_ms += cheapest.excess_ms;
          take(cheapest);
          continue;
        }
      }
      if (!own_ || own_->set != set || chosen_[set]) return;
      if (free_ms + own_->excess_ms >= start_ms - kLeastGainMs) return;
      take(*own_);
    }
  }

  const Plan& plan_;
  const ParameterSets& parameters_;
  const CostModel& costs_;
  std::vector<double> load_end_ms_;  // by set
  std::optional<StoreId> store_;
  double ms_per_byte_ = 0;
  double saved_ms_ = 0;  ///< loads to come end so much earlier
  std::vector<bool> chosen_;
  std::vector<std::size_t> order_of_choice_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
  std::optional<Candidate> own_;  ///< the last set that became a candidate
};

}  // namespace

std::vector<std::size_t> choose_in_place(const Plan& plan, const std::vector<OpId>& order,
                                         const Schedule& schedule, const Timeline& timeline,
                                         const ParameterSets& parameters, const CostModel& costs,
                                         const std::vector<bool>& refused) {
  return StallWalk(plan, schedule, timeline, parameters, costs).choose(order, refused);
}

}  // namespace hios::scheduler::deepplan
