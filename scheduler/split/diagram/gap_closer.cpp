#include "scheduler/split/diagram/gap_closer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/milp/milp.h"
#include "scheduler/split/diagram/decision_diagram.h"
#include "scheduler/split/diagram/tails.h"

// A round raises tails and heads by windows, then asks of the whole whether any schedule is below
// some latency between the bound and the one that is known: half way, as long as there is none. An
// end that is found shows how to place operators; what comes of that may be shorter than what is
// known, although most of a wide search was taken together.
//
// What one round leaves of devices for operators is right for the next: a schedule that is shorter
// than all that are known now was so before.

namespace hios::scheduler::split {

struct Closer::Size {
  std::size_t window, window_width, width;  ///< of tails.h, and of the search of the whole
};
const Closer::Size Closer::kSizes[] = {{8, 100, 500},     {14, 500, 4000},    {20, 2000, 20000},
                                       {26, 4000, 60000}, {32, 8000, 150000}, {40, 16000, 300000}};

namespace {

constexpr std::size_t kMostOperators = 2000, kMostDevices = 16;
constexpr std::size_t kMostKept = 15'000'000;  // begun schedules of all lengths: 8 bytes each
constexpr int kMostFailures = 2;               // in a round
constexpr double kSmall = 0.002;               // of a latency: then all of it is asked for

}  // namespace

Closer::Closer(const CostModel& costs, double low_ms, double known_ms)
    : costs_(costs), known_ms_(known_ms) {
  raise(low_ms);
  const bool large =
      costs.graph().size() > kMostOperators || costs.platform().size() > kMostDevices;
  if (large || closed()) return;
  work_ = work_of(costs);
  follow_paths(work_);
  raise(longest_path_ms(work_));
}

bool Closer::closed() const { return bound_ms_ >= known_ms_ * (1 - milp::kTolerance); }

void Closer::raise(double ms) { bound_ms_ = std::max(bound_ms_, std::min(ms, known_ms_)); }

void Closer::know(double latency_ms) {
  known_ms_ = std::min(known_ms_, latency_ms);
  bound_ms_ = std::min(bound_ms_, known_ms_);
}

void Closer::run(std::size_t rounds, const Context& context) {
  if (work_.operators == 0) return;
  while (round_ < std::min(rounds, kMostRounds) && !closed()) {
    if (!raised_) raise_ends(kSizes[round_], context);
    if (!closed()) search(kSizes[round_], context);
    if (context.deadline.expired()) return;
    raised_ = false;
    ++round_;
  }
}

void Closer::raise_ends(const Size& size, const Context& context) {
  const TailLimits limits{known_ms_, size.window, size.window_width, context.deadline};
  raise_tails(work_, limits);
  Work turned = mirrored(work_);
  raise_tails(turned, limits);
  work_ = mirrored(turned);
  raise(longest_path_ms(work_));
  raised_ = !context.deadline.expired();
}

void Closer::search(const Size& size, const Context& context) {
  const std::size_t width = std::min(size.width, kMostKept / work_.operators);
  double share = 0.5;
  for (int failures = 0; failures < kMostFailures && !closed() && !context.deadline.expired();) {
    const double between = known_ms_ - bound_ms_;
    const bool small = between < kSmall * known_ms_;
    const double below = small ? known_ms_ : bound_ms_ + share * between;
    const BegunResult found = search_begun(work_, {below, width, context.deadline});
    raise(found.bound_ms);
    if (found.bound_ms >= below) continue;
    ++failures;
    share /= 2;
    if (!found.order.empty()) place(found.order);
    if (small) break;
  }
}

/// Operators at the ends of devices, in this order.
void Closer::place(std::span<const std::pair<std::size_t, std::size_t>> order) {
  Schedule schedule;
  schedule.devices.resize(work_.devices);
  for (const auto& [v, d] : order) {
    schedule.devices[d].push_back(Stage{{{costs_.graph().topological()[v]}}});
  }
  if (!validate(costs_.graph(), costs_.platform(), schedule).empty()) return;
  const double latency_ms = simulate(costs_.graph(), schedule, costs_).latency_ms;
  if (latency_ms >= known_ms_) return;
  know(latency_ms);
  schedule_ = std::move(schedule);
}

}  // namespace hios::scheduler::split
