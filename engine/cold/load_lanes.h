#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hios {

/// The start and the end of a load, in ms on this host's clock (TimeMeter::began_ms).
struct LoadClock {
  double start_ms = 0;
  double end_ms = 0;
};

/// The lanes that load a rank's parameters while it computes: threads that copy (Loader), or queues
/// of a device (DeviceLoads). A lane loads in order. A closed load, and all after it, begins when
/// the main thread opens it. The main thread makes all calls; they allocate and lock nothing,
/// unless a lane has failed. loaded() and progress_text() are for any thread.
class LoadLanes {
 public:
  virtual ~LoadLanes() = default;

  /// Starts all lanes. REQUIRES: finish() since the last begin().
  virtual void begin() = 0;
  /// Opens the first load of the lane that is closed. REQUIRES: there is one.
  virtual void open_next(std::size_t lane) = 0;
  /// Returns true if the load, and so all before it in its lane, has ended in this iteration.
  /// Throws RunError where the lane failed.
  virtual bool ended(std::size_t lane, std::size_t load) const = 0;
  /// Returns true if all lanes have ended in this iteration. Throws likewise.
  virtual bool ended() const = 0;
  /// Returns true if a stage that needs the load can be started, or, after order_after(), be given
  /// to the device. Throws likewise.
  virtual bool usable(std::size_t lane, std::size_t load) const { return ended(lane, load); }
  /// Makes what the device is given next wait for the load. REQUIRES: usable().
  virtual void order_after(std::size_t /*lane*/, std::size_t /*load*/) {}
  /// Waits for the end of all lanes, or makes the device wait. Throws likewise. REQUIRES: no load
  /// is closed.
  virtual void finish() = 0;

  virtual std::size_t lanes() const = 0;
  /// Returns the times of the loads of the last iteration; of a device's, of the last one whose
  /// clocks were read. REQUIRES: finish() has returned.
  virtual std::span<const LoadClock> clocks(std::size_t lane) const = 0;
  /// Returns the number of a lane's loads that have ended in this iteration; of a device's, that it
  /// was given.
  virtual std::size_t loaded(std::size_t lane) const = 0;
  /// Returns "12 of 40 loads, 3200000 of 9100000 bytes": how far a lane is.
  virtual std::string progress_text(std::size_t lane) const = 0;
};

}  // namespace hios
