#include "scheduler/split/close.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/milp/milp.h"
#include "scheduler/split/begun.h"
#include "scheduler/split/tails.h"
#include "scheduler/split/work.h"

// A round raises tails and heads by windows, then asks of the whole whether any schedule is below
// some latency between the bound and the one that is known: half way, as long as there is none. An
// end that is found shows how to place operators; what comes of that may be shorter than what is
// known, although most of a wide search was taken together.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kMostOperators = 2000;

struct Size {
  std::size_t window, window_width, width;
};
constexpr Size kSizes[kMostRounds] = {{8, 100, 500},     {14, 500, 4000},    {20, 2000, 20000},
                                      {26, 4000, 60000}, {32, 8000, 150000}, {40, 16000, 300000}};
constexpr std::size_t kMostKept = 15'000'000;  // begun schedules of all lengths: 8 bytes each
constexpr int kMostFailures = 2;               // in a round
constexpr double kSmall = 0.002;               // of a latency: then all of it is asked for

class Closer {
 public:
  Closer(const CostModel& costs, double low_ms, double known_ms, const Context& context)
      : costs_(costs), context_(context), known_ms_(known_ms), work_(work_of(costs)) {
    raise(low_ms);
    follow_paths(work_);
    raise(longest_path_ms(work_));
  }

  Closing run(std::size_t rounds) {
    for (std::size_t round = 0; round < std::min(rounds, kMostRounds) && open(); ++round) {
      raise_ends(kSizes[round]);
      search(kSizes[round]);
    }
    return std::move(result_);
  }

 private:
  bool out_of_time() const { return context_.out_of_time && context_.out_of_time(); }
  bool open() const {
    return result_.bound_ms < known_ms_ * (1 - milp::kTolerance) && !out_of_time();
  }

  void raise(double ms) { result_.bound_ms = std::max(result_.bound_ms, std::min(ms, known_ms_)); }

  void raise_ends(const Size& size) {
    const TailLimits limits{known_ms_, size.window, size.window_width, context_.out_of_time};
    raise_tails(work_, limits);
    Work turned = mirrored(work_);
    raise_tails(turned, limits);
    work_ = mirrored(turned);
    raise(longest_path_ms(work_));
  }

  void search(const Size& size) {
    const std::size_t width = std::min(size.width, kMostKept / work_.operators);
    double share = 0.5;
    for (int failures = 0; failures < kMostFailures && open();) {
      const double between = known_ms_ - result_.bound_ms;
      const bool small = between < kSmall * known_ms_;
      const double below = small ? known_ms_ : result_.bound_ms + share * between;
      const BegunResult found = search_begun(work_, {below, width, context_.out_of_time});
      raise(found.bound_ms);
      if (found.bound_ms >= below) continue;
      ++failures;
      share /= 2;
      if (!found.order.empty()) keep(found);
      if (small) break;
    }
  }

  void keep(const BegunResult& found) {
    Schedule schedule;
    schedule.devices.resize(work_.devices);
    for (const auto& [v, d] : found.order) {
      schedule.devices[d].push_back(Stage{{{costs_.graph().topological()[v]}}});
    }
    if (!validate(costs_.graph(), costs_.platform(), schedule).empty()) return;
    const double latency_ms = simulate(costs_.graph(), schedule, costs_).latency_ms;
    if (latency_ms >= known_ms_) return;
    known_ms_ = latency_ms;
    result_.schedule = std::move(schedule);
  }

  const CostModel& costs_;
  const Context& context_;
  double known_ms_;
  Work work_;
  Closing result_;
};

}  // namespace

Closing close_gap(const CostModel& costs, double low_ms, double known_ms, std::size_t rounds,
                  const Context& context) {
  const std::size_t operators = costs.graph().size();
  if (operators == 0 || operators > kMostOperators || !(known_ms > 0)) return {low_ms, {}};
  return Closer(costs, low_ms, known_ms, context).run(rounds);
}

}  // namespace hios::scheduler::split
