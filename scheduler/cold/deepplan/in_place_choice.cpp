#include "scheduler/cold/deepplan/in_place_choice.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

// The device runs its operators in order, and stalls where one of them waits for its load. Walking
// through them, a stall is met by reads in place, of this operator or of those before: each takes
// its load out of the way of all later ones (relief), and takes longer itself (excess). Those with
// the least excess for their relief are tried first, and one is taken if the operator ends earlier
// with it. This is an estimate: loads are taken to move at their mean rate, and reads in place to
// share it; the caller asks simulate() for the truth. Only the last few hundred operators are tried
// again, so that the walk is linear.

namespace hios::scheduler::deepplan {
namespace {

constexpr double kLeastGainMs = 1e-9;
constexpr std::size_t kOperatorsTriedAgain = 256;  ///< operators before the one that stalls
constexpr std::size_t kTrialsOfStall = 4;          ///< candidates that are tried against a stall

class StallWalk {
 public:
  StallWalk(const Plan& plan, const std::vector<OpId>& order, const ParameterSets& parameters,
            const CostModel& costs)
      : plan_(plan),
        order_(order),
        parameters_(parameters),
        costs_(costs),
        load_end_ms_(parameters.sets().size(), 0),
        relief_ms_(order.size(), 0),
        state_(order.size() + 1),
        chosen_(parameters.sets().size(), false) {}

  std::vector<std::size_t> choose(const Schedule& schedule, const Timeline& timeline,
                                  const std::vector<bool>& refused) {
    read_loads(schedule, timeline);
    state_[0].free_ms = costs_.launch_ms(plan_.device);
    std::vector<bool> seen(parameters_.sets().size(), false);
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const auto set = parameters_.of(order_[at]);
      if (set && !seen[*set] && !is_in_place(*set) && !refused[*set]) add_candidate(*set, at);
      if (set) seen[*set] = true;
      state_[at + 1] = after(at, state_[at]);
      while (stalls(at) && meet_stall(at)) {
      }
    }
    return std::move(order_of_choice_);
  }

 private:
  /// The device and the loads before an operator.
  struct State {
    double free_ms = 0;   ///< the device has run all operators before
    double saved_ms = 0;  ///< loads from here on end so much earlier than in the timeline
  };
  /// A set whose operators may read it in place.
  struct Candidate {
    double cost = 0;  ///< excess for its relief
    std::size_t set = 0;
    std::size_t at = 0;  ///< its first operator, by order
    double relief_ms = 0;
    bool operator<(const Candidate& other) const {
      return std::pair(cost, set) < std::pair(other.cost, other.set);
    }
  };

  void read_loads(const Schedule& schedule, const Timeline& timeline) {
    double bytes = 0, end_ms = 0;
    std::size_t l = 0;
    for (const Lane& lane : schedule.weights->lanes) {
      for (const Load& load : lane) {
        const LoadTimes& times = timeline.loads[l++];
        if (load.to != plan_.device) continue;
        load_end_ms_[*parameters_.of(load.of)] = times.end_ms;
        bytes += static_cast<double>(times.size_bytes);
        end_ms = std::max(end_ms, times.end_ms);
      }
    }
    ms_per_byte_ = bytes > 0 ? end_ms / bytes : 0;
  }

  bool is_in_place(std::size_t set) const {
    return chosen_[set] || (!plan_.in_place.empty() && plan_.in_place[set]);
  }

  /// Returns the end of an operator's load; 0 where it does not wait for one.
  double loaded_ms(std::size_t at, double saved_ms) const {
    const auto set = parameters_.of(order_[at]);
    return set && !is_in_place(*set) ? load_end_ms_[*set] - saved_ms : 0;
  }

  State after(std::size_t at, const State& before) const {
    const OpId op = order_[at];
    const auto set = parameters_.of(op);
    const double run_ms =
        set && is_in_place(*set)
            ? *in_place_ms(costs_.graph().op(op), costs_.platform().device(plan_.device))
            : costs_.operator_ms(op, plan_.device);
    return {std::max(before.free_ms, loaded_ms(at, before.saved_ms)) + run_ms,
            before.saved_ms + relief_ms_[at]};
  }

  bool stalls(std::size_t at) const {
    return loaded_ms(at, state_[at].saved_ms) > state_[at].free_ms + kLeastGainMs;
  }

  void add_candidate(std::size_t set, std::size_t at) {
    Candidate candidate{.set = set, .at = at};
    double excess_ms = 0, bytes = static_cast<double>(parameters_.sets()[set].size_bytes);
    for (const OpId op : parameters_.sets()[set].operators) {
      const Operator& reader = costs_.graph().op(op);
      const auto ms = in_place_ms(reader, costs_.platform().device(plan_.device));
      if (!ms) return;
      excess_ms += *ms - costs_.operator_ms(op, plan_.device);
      bytes -= static_cast<double>(in_place_bytes(reader));
    }
    candidate.relief_ms = bytes * ms_per_byte_;
    candidate.cost = excess_ms / std::max(candidate.relief_ms, kLeastGainMs);
    candidates_.insert(candidate);
    newest_ = candidate;
  }

  /// Takes a candidate with which the operator ends earlier; returns false where there is none.
  bool meet_stall(std::size_t at) {
    std::vector<Candidate> tried;
    for (auto it = candidates_.begin(); it != candidates_.end() && tried.size() < kTrialsOfStall;) {
      if (it->at + kOperatorsTriedAgain < at) {
        it = candidates_.erase(it);
      } else {
        tried.push_back(*it++);
      }
    }
    if (newest_ && newest_->at == at && candidates_.contains(*newest_)) tried.push_back(*newest_);
    for (const Candidate& candidate : tried) {
      if (try_candidate(candidate, at)) return true;
    }
    return false;
  }

  bool try_candidate(const Candidate& candidate, std::size_t at) {
    chosen_[candidate.set] = true;
    relief_ms_[candidate.at] = candidate.relief_ms;
    State state = state_[candidate.at];
    for (std::size_t i = candidate.at; i <= at; ++i) state = after(i, state);
    if (!(state.free_ms < state_[at + 1].free_ms - kLeastGainMs)) {
      chosen_[candidate.set] = false;
      relief_ms_[candidate.at] = 0;
      return false;
    }
    for (std::size_t i = candidate.at; i <= at; ++i) state_[i + 1] = after(i, state_[i]);
    order_of_choice_.push_back(candidate.set);
    candidates_.erase(candidate);
    return true;
  }

  const Plan& plan_;
  const std::vector<OpId>& order_;
  const ParameterSets& parameters_;
  const CostModel& costs_;
  std::vector<double> load_end_ms_;  // by set
  std::vector<double> relief_ms_;    // by position of a set that was chosen
  std::vector<State> state_;         // by position, before it
  std::vector<bool> chosen_;         // by set
  double ms_per_byte_ = 0;
  std::set<Candidate> candidates_;
  std::optional<Candidate> newest_;
  std::vector<std::size_t> order_of_choice_;
};

}  // namespace

std::vector<std::size_t> choose_in_place(const Plan& plan, const std::vector<OpId>& order,
                                         const Schedule& schedule, const Timeline& timeline,
                                         const ParameterSets& parameters, const CostModel& costs,
                                         const std::vector<bool>& refused) {
  return StallWalk(plan, order, parameters, costs).choose(schedule, timeline, refused);
}

}  // namespace hios::scheduler::deepplan
