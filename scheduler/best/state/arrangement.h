#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/best/state/precedences.h"
#include "scheduler/best/state/search_problem.h"
#include "scheduler/best/state/stage_costs.h"

namespace hios::scheduler::best {

/// The index of a stage, below n, the number of operators. Slots without operators are empty.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

/// Positions of the sequence that an operator may take: after its producers and before its
/// consumers. It may enter the stages at `first`, `last` and all between (−1 and n: there is none),
/// or have a stage of its own after any position from `first` to `last` − 1.
struct PositionRange {
  std::int64_t first = -1;
  std::int64_t last = 0;
};

/// A neighbourhood of the search: positions `first` … `end` − 1 of the sequence.
struct Neighbourhood {
  std::size_t first = 0, end = 0;
  bool holds(std::size_t position) const { return position >= first && position < end; }
};

/// A schedule under change, valid but for memory: devices may be overfull. All stages of all
/// devices are in one sequence, which is a topological order: no edge leads backwards. Stages on a
/// device have the sequence's order, so a deadlock cannot arise. Operators that join one stage
/// within their ranges have no path between them that leaves it.
///
/// Changes are noted until keep() forgets or undo() reverts them. Not thread-safe. Implemented in
/// arrangement.cpp and, for whole neighbourhoods, arrangement_neighbourhoods.cpp.
class Arrangement {
 public:
  /// Both outlive the arrangement. REQUIRES: `schedule` is valid.
  Arrangement(const SearchProblem& problem, StageCosts& stage_costs, const Schedule& schedule);
  /// Copies an arrangement for another thread, which has stage costs of its own.
  Arrangement(const Arrangement& other, StageCosts& stage_costs);

  const SearchProblem& problem() const { return *problem_; }
  StageCosts& stage_costs() { return *stage_costs_; }
  std::size_t slots() const { return sequence_.size(); }

  Slot slot_of(OpId op) const { return slot_of_[op.index()]; }
  DeviceId device_of(OpId op) const { return device_[slot_of(op)]; }
  std::span<const OpId> operators(Slot slot) const { return operators_[slot]; }
  bool empty(Slot slot) const { return operators_[slot].empty(); }
  DeviceId device(Slot slot) const { return device_[slot]; }
  double cost_ms(Slot slot) const { return cost_ms_[slot]; }
  std::uint32_t position(Slot slot) const { return position_[slot]; }
  Slot at(std::size_t position) const { return sequence_[position]; }
  /// Return the previous and the next stage on the device, kNoSlot at its ends.
  Slot before(Slot slot) const { return before_[slot]; }
  Slot after(Slot slot) const { return after_[slot]; }
  Slot last(DeviceId device) const { return last_[device.index()]; }
  /// The precedences of transfers, whose changes are noted like all others.
  const Precedences& precedences() const { return precedences_; }
  Precedences& precedences() { return precedences_; }
  /// Returns the sum of all stages' costs.
  double work_ms() const { return work_ms_; }

  /// Confines operators and stages to these positions: ranges end there, and only stages there may
  /// be changed. At first it is the whole sequence. REQUIRES: the neighbourhood begins and ends at
  /// stages, each followed by its empty slots, as after reorder().
  void confine(Neighbourhood neighbourhood) { neighbourhood_ = neighbourhood; }
  const Neighbourhood& neighbourhood() const { return neighbourhood_; }
  bool confined() const { return neighbourhood_.end - neighbourhood_.first < slots(); }

  PositionRange range(OpId op) const;
  /// Returns the range in which a whole stage may be.
  PositionRange range_of_stage(Slot slot) const;
  Bytes held_bytes(DeviceId device) const { return held_bytes_[device.index()]; }
  /// Returns true if the device holds more bytes than its memory has.
  bool overfull(DeviceId device) const { return excess_bytes(device) > 0; }
  Bytes excess_bytes(DeviceId device) const;
  /// Returns the excess of all devices. A schedule is valid only without excess.
  Bytes excess_bytes() const { return excess_bytes_; }
  std::size_t overfull_devices() const { return overfull_devices_; }

  /// Moves an operator into another stage. REQUIRES: the stage is not empty and within the range,
  /// and its device can run the operator.
  void join(OpId op, Slot slot);
  /// Moves an operator into a stage of its own after position `gap`. REQUIRES: within the range;
  /// the device can run it.
  void isolate(OpId op, DeviceId device, std::int64_t gap);
  /// Moves a stage, possibly to another device. REQUIRES: within its range; the device can run all
  /// its operators.
  void shift(Slot slot, DeviceId device, std::int64_t gap);

  /// Returns the changes since the last keep() or undo(): stages whose operators, device, cost or
  /// previous stage changed (emptied ones too), stages that became the last of their device, and
  /// operators that moved.
  std::span<const Slot> changed_slots() const { return changed_slots_; }
  std::span<const OpId> moved_operators() const { return moved_; }
  void keep();
  void undo();

  /// Sorts the neighbourhood's stages by `key` (by slot), each followed by its empty slots. Changes
  /// no stage and no order on a device. REQUIRES: `key` does not fall along edges and devices; no
  /// changes are noted.
  void reorder(const std::vector<double>& key);

  /// Copies the neighbourhood's stages from `other`. REQUIRES: the two have the same neighbourhood
  /// and differ nowhere else; no changes are noted.
  void take_neighbourhood(const Arrangement& other);

  /// Returns the schedule without an order of transfers (message_timing.h adds it).
  Schedule schedule() const;

 private:
  enum class Change { kDetach, kAttach, kLink, kUnlink, kRotate, kCost };
  struct Note {
    Change change;
    Slot slot = kNoSlot;
    OpId op;                   ///< kDetach, kAttach
    std::uint32_t index = 0;   ///< kDetach: in the stage's operators; kRotate: the old position
    Slot neighbour = kNoSlot;  ///< kUnlink: the previous stage
    DeviceId device;           ///< kUnlink: the old one
    double cost_ms = 0;        ///< kCost: the old one
  };

  void fill_from(const Schedule& schedule);
  PositionRange whole_neighbourhood() const {
    return {static_cast<std::int64_t>(neighbourhood_.first) - 1,
            static_cast<std::int64_t>(neighbourhood_.end)};
  }
  void detach(OpId op);
  void attach(OpId op, Slot slot);
  void link(Slot slot, DeviceId device);
  void unlink(Slot slot);
  void link_after(Slot slot, Slot neighbour, DeviceId device);
  void take_out(Slot slot);
  void rotate(Slot slot, std::uint32_t position);
  void move_after(Slot slot, std::int64_t gap);
  void hold(DeviceId device, Bytes bytes);
  void release(DeviceId device, Bytes bytes);
  void update_cost(Slot slot);
  void set_cost(Slot slot, double ms);
  Slot empty_slot_near(std::int64_t gap) const;
  void revert(const Note& note);

  void copy_links(const Arrangement& other, Slot slot);

  const SearchProblem* problem_;
  StageCosts* stage_costs_;
  std::vector<Slot> slot_of_;                 // by operator
  std::vector<std::vector<OpId>> operators_;  // by slot
  std::vector<DeviceId> device_;              // by slot
  std::vector<double> cost_ms_;               // by slot; 0 where empty
  std::vector<Slot> before_, after_;          // by slot
  std::vector<Slot> first_, last_;            // by device
  std::vector<Slot> sequence_;                // by position
  std::vector<std::uint32_t> position_;       // by slot
  Neighbourhood neighbourhood_;
  std::vector<Bytes> held_bytes_;  // by device
  Bytes excess_bytes_ = 0;
  std::size_t overfull_devices_ = 0;
  double work_ms_ = 0;
  Precedences precedences_;

  std::vector<Note> notes_;
  std::vector<Slot> changed_slots_;
  std::vector<OpId> moved_;
  double noted_work_ms_ = 0;  ///< before the first note
};

}  // namespace hios::scheduler::best
