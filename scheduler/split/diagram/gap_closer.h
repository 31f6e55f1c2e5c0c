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

/// Closes the gap between a lower bound and the incumbent by decision diagrams (decision_diagram.h)
/// in rounds, each wider than the one before. Links do not contend. Does nothing for more than 2000
/// operators or 16 devices. The same calls give the same result unless a deadline expires.
class GapCloser {
 public:
  static constexpr std::size_t kMaxRounds = 6;

  /// `bound_ms`: a known lower bound. `incumbent_ms`: the latency of a known schedule. The costs
  /// must outlive it.
  GapCloser(const CostModel& costs, double bound_ms, double incumbent_ms);

  /// Continues up to `rounds` rounds in all, until the gap is closed or the deadline expires.
  void run(std::size_t rounds, const Context& context);
  /// Updates the upper bound with a shorter schedule.
  void update_incumbent(double latency_ms);

  /// Returns a lower bound for schedules of one operator a stage, at most the incumbent's latency.
  double bound_ms() const { return bound_ms_; }
  /// Returns the shortest schedule found that was shorter than the incumbent, if any.
  const std::optional<Schedule>& schedule() const { return schedule_; }
  /// Returns true if bound and incumbent are equal within milp::kTolerance.
  bool closed() const;

 private:
  struct RoundSize;
  static const RoundSize kSizes[kMaxRounds];

  void raise_bound(double ms);
  void tighten(const RoundSize& size, const Context& context);
  void search(const RoundSize& size, const Context& context);
  void try_order(std::span<const std::pair<std::size_t, std::size_t>> order);

  const CostModel& costs_;
  double bound_ms_ = 0, incumbent_ms_;
  std::optional<Schedule> schedule_;
  DiagramProblem problem_;  ///< empty where the graph or the platform is too large
  std::size_t round_ = 0;
  bool tightened_ = false;  ///< heads and tails, in this round
};

}  // namespace hios::scheduler::split
