#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cold/device/joined_loads.h"
#include "engine/cold/load_lanes.h"
#include "engine/cold/loader.h"
#include "mpi/accelerator.h"

namespace hios {

/// The loads of a rank on an asynchronous device: each lane is a queue, which copies from pinned
/// host memory, and an event after each load that something waits for. All calls only queue. So
/// they may be part of a recording, where no load is closed, and begin() comes before all else and
/// finish() after it: the loads are then nodes of it.
class DeviceLoads final : public LoadLanes {
 public:
  struct Lane {
    std::size_t number = 0;           ///< its queue's: Accelerator::load_queue
    Loader::LaneOfCopies loads;       ///< not empty; without copies where another rank sends them
    std::vector<bool> awaited;        ///< by load; see join_loads()
    std::vector<std::size_t> closed;  ///< see Loader; such a load follows one that is awaited
  };
  /// The device and the bytes outlive this.
  DeviceLoads(mpi::Accelerator& device, std::vector<Lane> lanes);

  /// Starts all lanes after what the work queue was given. Reads the device's clock around loads,
  /// by marks from this index on; null: it does not.
  void begin(ClockMarks* marks, std::size_t first_mark);
  void begin() override { begin(nullptr, 0); }
  void open_next(std::size_t lane) override;
  /// Asks the device. REQUIRES: not part of a recording.
  bool ended(std::size_t lane, std::size_t load) const override;
  bool ended() const override;
  bool usable(std::size_t lane, std::size_t load) const override {
    return lanes_[lane].queued.load(std::memory_order_relaxed) > load;
  }
  void order_after(std::size_t lane, std::size_t load) override;
  /// Makes the work queue wait for all loads.
  void finish() override;

  std::size_t lanes() const override { return lanes_.size(); }
  std::size_t loaded(std::size_t lane) const override {
    return lanes_[lane].queued.load(std::memory_order_relaxed);
  }
  std::string progress_text(std::size_t lane) const override;
  std::span<const LoadClock> clocks(std::size_t lane) const override { return lanes_[lane].clocks; }
  /// Returns the number of marks that begin() uses.
  std::size_t marks() const { return marks_of_all_; }
  /// Reads the times of the loads that begin() was given the same marks for. `origin`: the mark of
  /// the iteration's start, which was at `began_ms`. Loads that were given as one share its time,
  /// by their bytes.
  void read_clocks(const ClockMarks& marks, std::size_t origin, std::size_t first_mark,
                   double began_ms);

 private:
  struct OneLane {
    mpi::Queue queue = mpi::Queue::kWork;
    std::vector<JoinedLoads> joined;
    std::vector<std::unique_ptr<mpi::DeviceEvent>> ends;  // by index of `joined`
    std::vector<std::size_t> joined_of;                   // by load
    std::vector<Bytes> sizes;                             // by load
    std::vector<std::size_t> closed;                      // the number of loads comes last
    std::vector<LoadClock> clocks = {};
    std::size_t next_closed = 0;  // index into `closed`
    std::size_t next = 0;         // index into `joined`
    std::atomic<std::size_t> queued = 0;
    std::size_t first_mark = 0;  // after that of begin()
  };
  void queue_open(OneLane& lane);

  mpi::Accelerator& device_;
  std::deque<OneLane> lanes_;
  std::unique_ptr<mpi::DeviceEvent> started_;
  std::size_t marks_of_all_ = 0;
  ClockMarks* marks_ = nullptr;  // of this iteration
  std::size_t first_mark_ = 0;
};

}  // namespace hios
