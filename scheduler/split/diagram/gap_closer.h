#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/scheduler.h"
#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

/// Brings a bound and a latency together by searches through begun schedules (begun.h), in rounds,
/// each larger than the one before. Links do not contend. Nothing new where there are more than
/// 2000 operators or 16 devices. The same calls give the same result where no time ends them.
class Closer {
 public:
  static constexpr std::size_t kMostRounds = 6;

  /// `low_ms`: a bound that is known. `known_ms`: of a schedule that there is. The costs must
  /// outlive it.
  Closer(const CostModel& costs, double low_ms, double known_ms);

  /// Goes on where it ended, with so many rounds in all, until time is up or nothing is between.
  void run(std::size_t rounds, const Context& context);
  /// There is another schedule now.
  void know(double latency_ms);

  /// No schedule of one operator a stage takes less. Never more than the least latency known.
  double bound_ms() const { return bound_ms_; }
  /// Shorter than those that were known, where one was found.
  const std::optional<Schedule>& schedule() const { return schedule_; }
  /// Whether nothing is between: within milp::kTolerance.
  bool closed() const;

 private:
  struct Size;
  static const Size kSizes[kMostRounds];

  void raise(double ms);
  void raise_ends(const Size& size, const Context& context);
  void search(const Size& size, const Context& context);
  void place(std::span<const std::pair<std::size_t, std::size_t>> order);

  const CostModel& costs_;
  double bound_ms_ = 0, known_ms_;
  std::optional<Schedule> schedule_;
  Work work_;  ///< empty where there is too much of it
  std::size_t round_ = 0;
  bool raised_ = false;  ///< heads and tails, in this round
};

}  // namespace hios::scheduler::split
