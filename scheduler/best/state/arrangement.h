#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/best/state/search_problem.h"
#include "scheduler/best/state/stage_pricer.h"

namespace hios::scheduler::best {

/// One of n places for a stage, n the number of operators; those without operators are empty.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

/// Positions of the sequence that an operator may take: after everything that it reads, before
/// everything that reads it. It may enter the stages at `first` and `last` and all between (−1 and
/// n: there is none), or stand alone after any position from `first` to `last` − 1.
struct PositionRange {
  std::int64_t first = -1;
  std::int64_t last = 0;
};

/// Positions `first` … `end` − 1 of the sequence.
struct Window {
  std::size_t first = 0, end = 0;
  bool holds(std::size_t position) const { return position >= first && position < end; }
};

/// A schedule in the making, valid but for memory: devices may be overfull. All stages of all
/// devices stand in one sequence, which is a topological order of the stages: no edge leads
/// backwards. The order of stages on a device is theirs in the sequence, so a cyclic wait cannot
/// arise, and operators that join one stage within their ranges have no path between them that
/// leaves it.
///
/// Changes are noted until keep() forgets or undo() takes them back. Not thread-safe.
class Arrangement {
 public:
  /// Both outlive the arrangement. REQUIRES: `schedule` is valid.
  Arrangement(const SearchProblem& problem, StagePricer& pricer, const Schedule& schedule);
  /// A copy for another thread, which has a pricer of its own.
  Arrangement(const Arrangement& other, StagePricer& pricer);

  const SearchProblem& problem() const { return *problem_; }
  StagePricer& pricer() { return *pricer_; }
  std::size_t slots() const { return sequence_.size(); }

  Slot slot_of(OpId op) const { return slot_of_[op.index()]; }
  DeviceId device_of(OpId op) const { return device_[slot_of(op)]; }
  std::span<const OpId> operators(Slot slot) const { return operators_[slot]; }
  bool empty(Slot slot) const { return operators_[slot].empty(); }
  DeviceId device(Slot slot) const { return device_[slot]; }
  double cost_ms(Slot slot) const { return cost_ms_[slot]; }
  std::uint32_t position(Slot slot) const { return position_[slot]; }
  Slot at(std::size_t position) const { return sequence_[position]; }
  /// Neighbours on the device, kNoSlot at its ends.
  Slot before(Slot slot) const { return before_[slot]; }
  Slot after(Slot slot) const { return after_[slot]; }
  Slot last(DeviceId device) const { return last_[device.index()]; }
  /// The sum of all stages' costs.
  double work_ms() const { return work_ms_; }

  /// From now on operators and stages stay within these positions: ranges end there, and only what
  /// stands there may be changed. At first it is the whole sequence. REQUIRES: the window begins
  /// and ends at stages, with their empty slots behind them, as after reorder().
  void confine(Window window) { window_ = window; }
  const Window& window() const { return window_; }
  bool confined() const { return window_.end - window_.first < slots(); }

  PositionRange range(OpId op) const;
  /// Where a whole stage may stand alone.
  PositionRange range_of_stage(Slot slot) const;
  Bytes held_bytes(DeviceId device) const { return held_bytes_[device.index()]; }
  /// Whether the device holds more bytes than its memory has.
  bool overfull(DeviceId device) const { return excess_bytes(device) > 0; }
  Bytes excess_bytes(DeviceId device) const;
  /// Of all devices together. A schedule is valid only where there is none.
  Bytes excess_bytes() const { return excess_bytes_; }
  std::size_t overfull_devices() const { return overfull_devices_; }

  /// Moves an operator into another stage. REQUIRES: the stage is not empty, stands
  /// within the range, its device can run the operator.
  void join(OpId op, Slot slot);
  /// Moves an operator into a stage of its own after position `gap`. REQUIRES: within the range,
  /// the device can run it.
  void isolate(OpId op, DeviceId device, std::int64_t gap);
  /// Moves a stage, to another device perhaps. REQUIRES: within its range, the
  /// device can run all its operators.
  void shift(Slot slot, DeviceId device, std::int64_t gap);

  /// What changed since the last keep() or undo(): stages whose operators, device, cost or
  /// neighbour before them changed (emptied ones too), stages that became the last of their device,
  /// and operators that moved.
  std::span<const Slot> changed_slots() const { return changed_slots_; }
  std::span<const OpId> moved_operators() const { return moved_; }
  void keep();
  void undo();

  /// Puts the window's stages into the order of `key` (by slot), empty slots after the stage before
  /// them. Changes no stage and no order on a device. REQUIRES: `key` does not fall along edges and
  /// devices; no changes are noted.
  void reorder(const std::vector<double>& key);

  /// What stands in the window is what stands there in `other`. REQUIRES: the two have the same
  /// window and differ nowhere else; no changes are noted.
  void take_window(const Arrangement& other);

  Schedule schedule() const;

 private:
  enum class Change { kDetach, kAttach, kLink, kUnlink, kRotate, kPrice };
  struct Note {
    Change change;
    Slot slot = kNoSlot;
    OpId op;                   ///< kDetach, kAttach
    std::uint32_t place = 0;   ///< kDetach: among the operators; kRotate: the old position
    Slot neighbour = kNoSlot;  ///< kUnlink: before it
    DeviceId device;           ///< kUnlink: the old one
    double cost_ms = 0;        ///< kPrice: the old one
  };

  void fill_from(const Schedule& schedule);
  PositionRange whole_window() const {
    return {static_cast<std::int64_t>(window_.first) - 1, static_cast<std::int64_t>(window_.end)};
  }
  void detach(OpId op);
  void attach(OpId op, Slot slot);
  void link(Slot slot, DeviceId device);
  void unlink(Slot slot);
  void link_after(Slot slot, Slot neighbour, DeviceId device);
  void take_out(Slot slot);
  void rotate(Slot slot, std::uint32_t position);
  void stand_after(Slot slot, std::int64_t gap);
  void hold(DeviceId device, Bytes bytes);
  void release(DeviceId device, Bytes bytes);
  void reprice(Slot slot);
  void set_cost(Slot slot, double ms);
  Slot empty_slot_near(std::int64_t gap) const;
  void take_back(const Note& note);

  void copy_links(const Arrangement& other, Slot slot);

  const SearchProblem* problem_;
  StagePricer* pricer_;
  std::vector<Slot> slot_of_;                 // by operator
  std::vector<std::vector<OpId>> operators_;  // by slot
  std::vector<DeviceId> device_;              // by slot
  std::vector<double> cost_ms_;               // by slot; 0 where empty
  std::vector<Slot> before_, after_;          // by slot
  std::vector<Slot> first_, last_;            // by device
  std::vector<Slot> sequence_;                // by position
  std::vector<std::uint32_t> position_;       // by slot
  Window window_;
  std::vector<Bytes> held_bytes_;  // by device
  Bytes excess_bytes_ = 0;
  std::size_t overfull_devices_ = 0;
  double work_ms_ = 0;

  std::vector<Note> notes_;
  std::vector<Slot> changed_slots_;
  std::vector<OpId> moved_;
  double noted_work_ms_ = 0;  ///< before the first note
};

}  // namespace hios::scheduler::best
