#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/run/plan/plan.h"
#include "hios/flight/recorder.h"
#include "hios/graph/graph.h"

namespace hios {

/// A rank's position in its plan: one store a step for watchdogs, and one event a step for the
/// flight record, if the rank keeps one. Written by the main thread, read by any.
class StepProgress {
 public:
  /// `recorder` may be null; with the plan and the graph it outlives this.
  StepProgress(const RankPlan& plan, const Graph& graph, flight::Recorder* recorder);

  /// The positions of an iteration: 0 between two iterations, p in step p − 1, then one in the wait
  /// for the end of all messages, one for the end of all loads, and one in the wait for the device.
  static constexpr std::size_t kBetween = 0;
  std::size_t end_of_messages() const { return steps_ + 1; }
  std::size_t loads() const { return steps_ + 2; }
  std::size_t end_on_device() const { return steps_ + 3; }

  /// Enters a step of the plan; stages in any order come in another than the plan's.
  void enter_step(std::size_t step) { enter(1 + step, events_[step]); }
  bool is_in_step(std::size_t step) const { return position_ == 1 + step; }
  void enter_end_of_messages() { enter(end_of_messages(), flight::EventKind::kAwaitMessages); }
  void enter_loads() { enter(loads(), flight::EventKind::kAwaitLoad); }
  void enter_end_on_device() { enter(end_on_device(), flight::EventKind::kAwaitDevice); }
  void end_iteration();
  /// Numbers the next iterations in the record: `first`, `first + step` ...
  void number_iterations(std::uint64_t first, std::uint64_t step);
  /// Returns the number of the current iteration; readable from any thread.
  std::uint64_t iteration() const { return shown_iteration_.load(std::memory_order_relaxed); }
  /// Moves to the position between two iterations.
  void leave();

  /// Grows with every step.
  std::uint64_t count() const { return progress_.load(std::memory_order_relaxed); }
  std::size_t position() const { return static_cast<std::size_t>(count() % positions()); }

  /// Wraps the bound operator `op` of `stage` so that its runs are noted in the flight record;
  /// returns it as it is where there is no record. For backends whose operators have ended when
  /// run() returns.
  std::unique_ptr<BoundOperator> noted(std::unique_ptr<BoundOperator> bound, OpId op,
                                       std::size_t stage);

 private:
  std::size_t positions() const { return steps_ + 4; }
  void enter(std::size_t position, flight::EventKind kind) {
    if (position < position_) iterations_begin_ += positions();  // so that the count grows
    position_ = position;
    progress_.store(iterations_begin_ + position, std::memory_order_relaxed);
    if (recorder_) recorder_->note(kind, subjects_.at(position - 1), iteration_);
  }

  const Graph& graph_;
  const std::size_t steps_;
  flight::Recorder* recorder_;
  std::vector<flight::EventKind> events_;              // by step
  flight::Recorder::Subjects subjects_;                // the steps, then the three waits
  std::vector<flight::Recorder::Subjects> operators_;  // operators wrapped by noted()
  std::atomic<std::uint64_t> progress_{0};
  std::uint64_t iterations_begin_ = 0;  // count() at the start of this iteration, or later
  std::size_t position_ = kBetween;
  std::uint64_t iteration_ = 0, step_ = 1;
  std::atomic<std::uint64_t> shown_iteration_{0};  // iteration_, for other threads
};

}  // namespace hios
