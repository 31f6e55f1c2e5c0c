#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/cold/read_ahead.h"
#include "hios/base/files/direct_file.h"
#include "hios/base/ids.h"

namespace hios {

/// Bytes of parameters: where they are kept, and where operators read them.
struct ParameterCopy {
  const std::byte* from = nullptr;  ///< null: in the file
  std::byte* to = nullptr;
  Bytes size_bytes = 0;
  Bytes offset = 0;  ///< in the file
};

/// The start and the end of a load, in ms on this host's clock (TimeMeter::began_ms).
struct LoadClock {
  double start_ms = 0;
  double end_ms = 0;
};

/// Loads parameters while a rank computes: a thread for each lane, which copies its loads in order,
/// makes no MPI call, and sleeps between iterations. What a lane loads from the file is read ahead
/// (ReadAhead), past the end of the load under way, too. The main thread calls begin() and finish()
/// around each iteration, and asks in between; these allocate and lock nothing, unless a lane has
/// failed. progress_text() is for any thread.
class Loader {
 public:
  /// A lane: its loads, each of which is any number of copies.
  using LaneOfCopies = std::vector<std::vector<ParameterCopy>>;

  /// `lanes`: not empty, nor one of them. `cores`: those that the threads may use, as the operating
  /// system numbers them; empty: all that the caller may use. `file`: null where all bytes are in
  /// memory. The bytes and the file outlive the loader. Throws RunError where the system starts no
  /// thread or memory is short.
  Loader(std::vector<LaneOfCopies> lanes, const std::vector<int>& cores,
         const DirectFile* file = nullptr);
  /// Waits for the loads under way.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Starts all lanes. REQUIRES: finish() since the last begin().
  void begin();
  /// Returns true if the load, and so all before it in its lane, has ended in this iteration.
  /// Throws RunError where the lane cannot read its file.
  bool ended(std::size_t lane, std::size_t load) const {
    if (lanes_[lane]->ended.load(std::memory_order_acquire) > load) return true;
    if (lanes_[lane]->failed.load(std::memory_order_acquire)) fail(*lanes_[lane]);
    return false;
  }
  /// Gives other threads of this core a chance to run: the loader's own may be one of them.
  static void yield();
  /// Waits for the end of all lanes. Throws as ended() does.
  void finish();

  std::size_t lanes() const { return lanes_.size(); }
  /// Returns the times of the loads of the last iteration. REQUIRES: finish() has returned.
  std::span<const LoadClock> clocks(std::size_t lane) const { return lanes_[lane]->clocks; }
  /// Returns "12 of 40 loads, 3200000 of 9100000 bytes": how far a lane is.
  std::string progress_text(std::size_t lane) const;

 private:
  struct OneLane {
    LaneOfCopies loads;
    std::unique_ptr<ReadAhead> reader;  // null: all bytes are in memory
    Bytes size_bytes = 0;
    std::vector<LoadClock> clocks;
    std::atomic<std::size_t> ended{0};  // loads of this iteration
    std::atomic<Bytes> copied{0};       // bytes of this iteration
    std::exception_ptr failure;         // set before `failed`
    std::atomic<bool> failed{false};
    std::thread thread;
  };

  [[noreturn]] static void fail(const OneLane& lane);
  void open_readers(const DirectFile& file);
  void stop();
  void serve(OneLane& lane);
  void load_all(OneLane& lane);

  std::vector<std::unique_ptr<OneLane>> lanes_;
  std::atomic<std::uint64_t> iteration_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace hios
