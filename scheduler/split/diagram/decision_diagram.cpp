#include "scheduler/split/diagram/decision_diagram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "scheduler/split/diagram/charges.h"

// A schedule of one operator after the other on every device, its operators in the order of their
// starts (where equal, one that another waits for, or that is before it on its device, comes
// first): its first operators are a begun schedule. What the rest can be follows from
//   the set of these operators, and where those run whose label others bear, too,
//   free: when each device has ended its last of them,
//   arrivals: for each operator outside that reads one of them or nothing, and each device, when
//     all that it reads of them would be there,
//   used: bytes of each device that is short of memory.
// The next operator begins when its device is free, its tensors are there, and no operator of the
// set begins later: the numbers are raised to the last start, after which all begins. So each
// number after a step is a function of those before it that never falls when they rise, and a step
// that is possible stays so when they fall. Two things follow:
//   - of two begun schedules of a set with no number above the other's, the other is needless:
//     whatever can follow it can follow this one, and then ends no later;
//   - numbers that are no real schedule's but below those of several can stand for all of these:
//     the least of each number. All that follows is a bound then.
// A chain of steps that takes a schedule's operators in its order thus has numbers that are never
// above the schedule's own. It breaks only where a bound of what can follow is `below_ms` or more:
// by an operator's arrivals, its time and tail; or by the charges of all that is left. What is left
// in the end has the least of those bounds: none is below that, and none below `below_ms`.
// (Relaxed decision diagrams do so with other problems: Bergman, Cire, van Hoeve and Hooker,
// "Discrete Optimization with Decision Diagrams", INFORMS Journal on Computing, 2016.)
//
// Numbers of two that differ by less than rounding count as equal, and the lesser is kept.
// Test: tests/scheduler/split/diagram/decision_diagram_test.cpp.

namespace hios::scheduler::split {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;
constexpr std::size_t kLeastOfSet = 2, kMostOfSet = 1000;  // begun schedules of one set
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The last step of a begun schedule, and which one before it was continued.
struct Step {
  std::uint32_t before = 0;
  std::uint16_t op = 0, device = 0;
};

/// Begun schedules of one set of operators.
struct Front {
  std::vector<std::uint64_t> done;   ///< a bit for each operator
  std::vector<std::size_t> homes;    ///< device by label
  std::vector<std::size_t> pending;  ///< operators with arrivals, in order
  std::vector<char> ready;           ///< of these: whether all that they read is made
  Charges::Rest rest;
  std::size_t length = 0;      ///< numbers of one
  std::vector<double> states;  ///< of each: bound, free, used, arrivals by pending × device
  std::vector<Step> steps;     ///< of each
  std::size_t first = 0;       ///< number of the first in its layer
};

class Search {
 public:
  Search(const Work& work, const BegunLimits& limits)
      : work_(work),
        limits_(limits),
        devices_(work.devices),
        in_(work.operators),
        out_(work.operators),
        charges_(work) {
    for (std::size_t a = 0; a < work.arcs.size(); ++a) {
      in_[work.arcs[a].to].push_back(a);
      out_[work.arcs[a].from].push_back(a);
    }
    for (std::size_t d = 0; d < devices_; ++d) {
      if (work.memory[d] < kInfinity) tight_.push_back(d);
    }
    arrivals_ = 1 + devices_ + tight_.size();
  }

  BegunResult run() {
    begin();
    for (std::size_t layer = 0; layer < work_.operators && !now_.empty(); ++layer) {
      const std::size_t most = std::clamp(limits_.width / now_.size(), kLeastOfSet, kMostOfSet);
      for (const Front& front : now_) {
        expand(front, most);
        if (stopped_) return {std::min(limits_.below_ms, least_bound()), {}};
      }
      end_layer();
    }
    return {std::min(limits_.below_ms, least_bound()), order()};
  }

 private:
  bool is_done(const Front& front, std::size_t v) const {
    return (front.done[v / 64] >> (v % 64) & 1) != 0;
  }

  void begin() {
    Front first;
    first.done.assign((work_.operators + 63) / 64, 0);
    first.homes.assign(work_.labels, kNone);
    for (std::size_t v = 0; v < work_.operators; ++v) {
      if (in_[v].empty()) first.pending.push_back(v);
    }
    finish(first);
    first.states.assign(arrivals_, 0);
    for (std::size_t v : first.pending) {
      for (std::size_t d = 0; d < devices_; ++d) {
        first.states.push_back(work_.head[work_.at(v, d)]);
      }
    }
    first.steps.push_back({});
    now_.push_back(std::move(first));
  }

  /// What follows from the set alone.
  void finish(Front& front) const {
    for (std::size_t w : front.pending) {
      const auto made = [&](std::size_t a) { return is_done(front, work_.arcs[a].from); };
      front.ready.push_back(std::all_of(in_[w].begin(), in_[w].end(), made) ? 1 : 0);
    }
    front.rest = charges_.rest(front.done);
    front.length = arrivals_ + front.pending.size() * devices_;
  }

  void end_layer() {
    std::erase_if(next_, [](const Front& front) { return front.states.empty(); });
    now_.swap(next_);
    next_.clear();
    places_.clear();
    std::vector<Step>& steps = layers_.emplace_back();
    for (Front& front : now_) {
      front.first = steps.size();
      steps.insert(steps.end(), front.steps.begin(), front.steps.end());
    }
  }

  double least_bound() const {
    double least = kInfinity;
    for (const auto* fronts : {&now_, &next_}) {
      for (const Front& front : *fronts) {
        for (std::size_t at = 0; at < front.states.size(); at += front.length) {
          least = std::min(least, front.states[at]);
        }
      }
    }
    return least;
  }

  /// Of the least in the end.
  std::vector<std::pair<std::size_t, std::size_t>> order() const {
    double least = kInfinity;
    std::size_t at = 0;
    for (const Front& all : now_) {
      for (std::size_t i = 0; i < all.steps.size(); ++i) {
        if (all.states[i * all.length] >= least) continue;
        least = all.states[i * all.length];
        at = all.first + i;
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> order;
    if (least == kInfinity) return order;
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
      const Step& step = layers_[layer][at];
      order.emplace_back(step.op, step.device);
      at = step.before;
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  /// By number in next_: the set with one more.
  std::size_t with(const Front& front, std::size_t w, std::size_t d) {
    Front made;
    made.done = front.done;
    made.done[w / 64] |= std::uint64_t{1} << (w % 64);
    made.homes = front.homes;
    if (work_.label[w] != Work::kNoLabel) made.homes[work_.label[w]] = d;
    std::string key(reinterpret_cast<const char*>(made.done.data()),
                    made.done.size() * sizeof made.done[0]);
    key.append(reinterpret_cast<const char*>(made.homes.data()),
               made.homes.size() * sizeof(std::size_t));
    const auto [at, is_new] = places_.try_emplace(std::move(key), next_.size());
    if (!is_new) return at->second;
    made.pending = front.pending;
    std::erase(made.pending, w);
    for (std::size_t a : out_[w]) made.pending.push_back(work_.arcs[a].to);
    std::sort(made.pending.begin(), made.pending.end());
    made.pending.erase(std::unique(made.pending.begin(), made.pending.end()), made.pending.end());
    finish(made);
    next_.push_back(std::move(made));
    return at->second;
  }

  void expand(const Front& front, std::size_t most) {
    for (std::size_t r = 0; r < front.pending.size(); ++r) {
      if (front.ready[r] == 0) continue;
      const std::size_t w = front.pending[r];
      const std::size_t label = work_.label[w];
      for (std::size_t d = 0; d < devices_; ++d) {
        if (work_.time[work_.at(w, d)] == kInfinity) continue;
        stopped_ = limits_.deadline.expired() || next_.size() > limits_.width;
        if (stopped_) return;
        const bool tied = label != Work::kNoLabel && front.homes[label] != kNone;
        if (!tied || front.homes[label] == d) expand(front, r, d, most);
      }
    }
  }

  /// All of a set by one operator on one device.
  void expand(const Front& front, std::size_t r, std::size_t d, std::size_t most) {
    const std::size_t w = front.pending[r];
    std::optional<std::size_t> place;
    for (std::size_t i = 0; i < front.steps.size(); ++i) {
      const double* state = &front.states[i * front.length];
      const double start = std::max(state[1 + d], state[arrivals_ + r * devices_ + d]);
      const double end = start + work_.time[work_.at(w, d)];
      if (end + work_.tail[work_.at(w, d)] >= limits_.below_ms) continue;
      if (!place) {
        place = with(front, w, d);
        find_sources(front, next_[*place], w);
      }
      Front& to = next_[*place];
      if (!make(state, to, w, d, start)) continue;
      insert(to,
             {static_cast<std::uint32_t>(front.first + i), static_cast<std::uint16_t>(w),
              static_cast<std::uint16_t>(d)},
             most);
    }
  }

  /// Where the arrivals of pending operators come from: those before, and a tensor of w.
  void find_sources(const Front& from, const Front& to, std::size_t w) {
    source_.clear();
    arc_.clear();
    for (std::size_t x : to.pending) {
      const auto found = std::lower_bound(from.pending.begin(), from.pending.end(), x);
      const bool there = found != from.pending.end() && *found == x;
      source_.push_back(there ? static_cast<std::size_t>(found - from.pending.begin()) : kNone);
      arc_.push_back(nullptr);
      for (std::size_t a : out_[w]) {
        if (work_.arcs[a].to == x) arc_.back() = work_.arcs[a].ms.data();
      }
    }
  }

  /// The numbers after a step, in made_. False where what follows is not below the limit.
  bool make(const double* state, const Front& to, std::size_t w, std::size_t d, double start) {
    const double end = start + work_.time[work_.at(w, d)];
    made_.resize(to.length);
    made_[0] = std::max(state[0], end + work_.tail[work_.at(w, d)]);
    for (std::size_t e = 0; e < devices_; ++e) made_[1 + e] = std::max(state[1 + e], start);
    made_[1 + d] = end;
    if (!use(state, w, d)) return false;
    double next_start = kInfinity;
    for (std::size_t i = 0; i < to.pending.size(); ++i) {
      if (!arrive(state, to, i, d, start, next_start)) return false;
    }
    if (to.pending.empty()) return true;
    for (std::size_t e = 0; e < devices_; ++e) made_[1 + e] = std::max(made_[1 + e], next_start);
    for (std::size_t i = arrivals_; i < made_.size(); ++i) {
      made_[i] = std::max(made_[i], next_start);
    }
    made_[0] = std::max(made_[0], charges_.end_ms(to.rest, {&made_[1], devices_}));
    return made_[0] < limits_.below_ms;
  }

  /// Bytes as parts of all that there are, times the limit, which makes them as large as times.
  bool use(const double* state, std::size_t w, std::size_t d) {
    for (std::size_t i = 0; i < tight_.size(); ++i) {
      double& used = made_[1 + devices_ + i];
      used = state[1 + devices_ + i];
      if (tight_[i] != d) continue;
      used += work_.bytes[w] / work_.memory[d] * limits_.below_ms;
      if (used > limits_.below_ms * (1 + kRounding)) return false;
    }
    return true;
  }

  /// Arrivals of a pending operator after a step on device d, infinity where it would come too late
  /// for the limit. False where that is everywhere. Lowers `next_start` to where it could begin.
  bool arrive(const double* state, const Front& to, std::size_t i, std::size_t d, double start,
              double& next_start) {
    const std::size_t x = to.pending[i];
    const double end = made_[1 + d];
    double least = kInfinity;
    for (std::size_t e = 0; e < devices_; ++e) {
      const std::size_t at = work_.at(x, e);
      double arrival =
          source_[i] == kNone ? work_.head[at] : state[arrivals_ + source_[i] * devices_ + e];
      if (arc_[i] != nullptr) arrival = std::max(arrival, end + arc_[i][d * devices_ + e]);
      arrival = std::max(arrival, start);
      const double begin = std::max(arrival, made_[1 + e]);
      const double ends = begin + work_.time[at] + work_.tail[at];
      const bool late = ends >= limits_.below_ms;
      made_[arrivals_ + i * devices_ + e] = late ? kInfinity : arrival;
      if (late) continue;
      least = std::min(least, ends);
      if (to.ready[i] != 0) next_start = std::min(next_start, begin);
    }
    made_[0] = std::max(made_[0], least);
    return least < kInfinity;
  }

  /// Adds made_ to a set, unless it is needless there.
  void insert(Front& front, const Step& step, std::size_t most) {
    std::size_t nearest = kNone;
    double least = kInfinity;
    for (std::size_t i = 0; i < front.steps.size();) {
      double* state = &front.states[i * front.length];
      const Comparison found = compare(state, least);
      if (found.needless_new) {
        lower(state);
        return;
      }
      if (found.needless_old) {
        for (std::size_t k = 0; k < made_.size(); ++k) made_[k] = std::min(made_[k], state[k]);
        remove(front, i);
        if (nearest == front.steps.size()) nearest = kNone;
        continue;
      }
      if (found.apart < least) {
        least = found.apart;
        nearest = i;
      }
      ++i;
    }
    if (front.steps.size() >= most && nearest != kNone) {
      double* state = &front.states[nearest * front.length];
      if (made_[0] < state[0]) front.steps[nearest] = step;
      lower(state);
      return;
    }
    front.states.insert(front.states.end(), made_.begin(), made_.end());
    front.steps.push_back(step);
  }

  struct Comparison {
    bool needless_new = true, needless_old = true;
    double apart = 0;  ///< a sum of differences, or more than `least`
  };

  Comparison compare(const double* state, double least) const {
    Comparison found;
    const double slack = limits_.below_ms * kRounding;
    for (std::size_t k = 0; k < made_.size(); ++k) {
      const double old = state[k], made = made_[k];
      if (old == made) continue;
      if (old > made + slack) found.needless_new = false;
      if (made > old + slack) found.needless_old = false;
      found.apart += std::min(std::abs(old - made), limits_.below_ms);
      if (!found.needless_new && !found.needless_old && found.apart > least) break;
    }
    return found;
  }

  void lower(double* state) const {
    for (std::size_t k = 0; k < made_.size(); ++k) state[k] = std::min(state[k], made_[k]);
  }

  static void remove(Front& front, std::size_t i) {
    const std::size_t last = front.steps.size() - 1;
    std::copy_n(&front.states[last * front.length], front.length, &front.states[i * front.length]);
    front.steps[i] = front.steps[last];
    front.steps.pop_back();
    front.states.resize(front.states.size() - front.length);
  }

  const Work& work_;
  const BegunLimits& limits_;
  std::size_t devices_;
  std::size_t arrivals_ = 0;  ///< where they begin
  std::vector<std::vector<std::size_t>> in_, out_;
  std::vector<std::size_t> tight_;  ///< devices
  Charges charges_;
  bool stopped_ = false;  ///< or too many sets
  std::vector<Front> now_, next_;
  std::unordered_map<std::string, std::size_t> places_;  ///< in next_
  std::vector<std::vector<Step>> layers_;
  std::vector<double> made_;
  std::vector<std::size_t> source_;
  std::vector<const double*> arc_;
};

}  // namespace

BegunResult search_begun(const Work& work, const BegunLimits& limits) {
  if (work.operators == 0) return {};
  return Search(work, limits).run();
}

}  // namespace hios::scheduler::split
