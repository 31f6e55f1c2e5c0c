#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/cold/load_lanes.h"
#include "engine/cold/read_ahead.h"
#include "hios/base/files/direct_file.h"
#include "hios/base/ids.h"

namespace hios {

/// Bytes of parameters: where they are kept, and where operators read them.
struct ParameterCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  Bytes size_bytes = 0;
  std::optional<Bytes> offset = {};  ///< in the file, instead of `from`
};

/// Loads parameters while a rank computes: a thread for each lane, which copies its loads in order,
/// makes no MPI call, and sleeps between iterations. What a lane loads from a file is read ahead
/// (ReadAhead), past the end of the load under way, too.
class Loader final : public LoadLanes {
 public:
  /// A lane: its loads, each of which is any number of copies.
  using LaneOfCopies = std::vector<std::vector<ParameterCopy>>;
  /// Called by a lane's thread before it copies a load, which begins with the call and ends after
  /// it: for machines that are emulated. Returns soon after `stop` is set.
  using BeforeCopy =
      std::function<void(std::size_t lane, std::size_t load, const std::atomic<bool>& stop)>;

  /// `lanes`: not empty, nor one of them. `cores`: those that the threads may use, as the operating
  /// system numbers them; empty: all that the caller may use. `closed`: by lane, ascending, the
  /// loads that are closed at the beginning of an iteration; empty: none is. `file`: null where all
  /// bytes are in memory. The bytes and the file outlive the loader. Throws RunError where the
  /// system starts no thread or memory is short.
  Loader(std::vector<LaneOfCopies> lanes, const std::vector<int>& cores,
         std::vector<std::vector<std::size_t>> closed = {}, const DirectFile* file = nullptr,
         BeforeCopy before_copy = {});
  /// Opens all loads, and waits for those under way.
  ~Loader() override;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  void begin() override;
  void open_next(std::size_t lane) override;
  bool ended(std::size_t lane, std::size_t load) const override {
    if (lanes_[lane]->ended.load(std::memory_order_acquire) > load) return true;
    if (lanes_[lane]->failed.load(std::memory_order_acquire)) fail(*lanes_[lane]);
    return false;
  }
  /// Gives other threads of this core a chance to run: the loader's own may be one of them.
  static void yield();
  std::size_t loaded(std::size_t lane) const override {
    return lanes_[lane]->ended.load(std::memory_order_acquire);
  }
  bool ended() const override;
  void finish() override;

  std::size_t lanes() const override { return lanes_.size(); }
  std::span<const LoadClock> clocks(std::size_t lane) const override {
    return lanes_[lane]->clocks;
  }
  std::string progress_text(std::size_t lane) const override;

 private:
  struct OneLane {
    std::size_t number = 0;
    LaneOfCopies loads;
    std::vector<std::size_t> closed;    // at the beginning; the number of loads comes last
    std::size_t next_closed = 0;        // index into `closed`, for the main thread
    std::unique_ptr<ReadAhead> reader;  // null: all bytes are in memory
    Bytes size_bytes = 0;
    std::vector<LoadClock> clocks;
    std::atomic<std::size_t> open_until{0};  // the first load that is closed
    std::atomic<std::size_t> ended{0};       // loads of this iteration
    std::atomic<Bytes> copied{0};            // bytes of this iteration
    std::exception_ptr failure;              // set before `failed`
    std::atomic<bool> failed{false};
    std::thread thread;
  };

  [[noreturn]] static void fail(const OneLane& lane);
  void open_readers(const DirectFile& file, const std::vector<int>& cores);
  void stop();
  void serve(OneLane& lane);
  void load_all(OneLane& lane);

  const BeforeCopy before_copy_;
  std::vector<std::unique_ptr<OneLane>> lanes_;
  std::atomic<std::uint64_t> iteration_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> closing_{false};  // nobody needs the loads that are left
};

}  // namespace hios
