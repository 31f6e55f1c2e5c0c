#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hios/base/error.h"
#include "hios/base/ids.h"

/// What a transport may ask of a device whose work is queued and runs behind the caller's back, so
/// that tensors can leave it and arrive on it in order with that work. No CUDA type here: the
/// implementations are engine/cuda and, in tests, a fake that runs its queues in any order that the
/// contract allows.
namespace hios::mpi {

/// What a device says went wrong, possibly long after the call that caused it: of what it had been
/// given by then, any part may be to blame.
class DeviceError : public RunError {
  using RunError::RunError;
};

/// A device has no memory left for what it was asked for. It works on.
class DeviceMemoryError : public DeviceError {
  using DeviceError::DeviceError;
};

/// In-order queues of a device. What is queued on one starts when what was queued before on the
/// same one has ended; between queues only events order. kWork is the one that stages fork from
/// and join to, kOut takes what leaves the device. What comes from other ranks has a queue for each
/// of them (Accelerator::in_queue): a copy that could start never waits behind another rank's late
/// tensor.
enum class Queue : std::size_t { kWork, kOut, kFirstIn };

/// A point in a queue. Reused in every iteration.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// True once all that was queued before the last record() has ended; true if never recorded.
  /// Does not wait. Throws RunError where that work failed.
  virtual bool done() = 0;
};

/// Memory that goes with this object, after queued copies that use it have ended: the device's own,
/// pinned host memory (which the device copies from and to without a detour), or a peer's device
/// memory mapped here.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual std::byte* data() = 0;
};

/// One device as this rank uses it. Used by the main thread only. No call waits for the device;
/// record, wait, copy and done allocate nothing. All throw RunError with the device's own words, a
/// DeviceError where it is work that failed.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  /// Unique on the machine, and equal for two ranks that share the device: "GPU-3f…" .
  virtual const std::string& identity() const = 0;

  /// Throws RunError that says how much was asked for what.
  virtual std::unique_ptr<DeviceMemory> make_pinned(Bytes size_bytes, const std::string& what) = 0;
  virtual std::unique_ptr<DeviceMemory> make_memory(Bytes size_bytes, const std::string& what) = 0;

  /// For copies of what comes from `peer`; made when it is first asked for, in set-up.
  virtual Queue in_queue(Rank peer) = 0;

  /// `shared`: may be exported to another process.
  virtual std::unique_ptr<DeviceEvent> make_event(bool shared) = 0;
  /// The event stands for all that has been queued on `queue` so far.
  virtual void record(DeviceEvent& event, Queue queue) = 0;
  /// What is queued on `queue` later starts after the event's last record. The host does not wait.
  virtual void wait(DeviceEvent& event, Queue queue) = 0;
  /// Queues a copy between any two of this device's memory, mapped and pinned memory.
  virtual void copy(std::byte* to, const std::byte* from, Bytes size_bytes, Queue queue) = 0;

  /// What another process on the same host needs to reach `address` or to wait for the event: text
  /// without line breaks. Throws RunError where the device cannot share.
  virtual std::string export_memory(const std::byte* address) = 0;
  virtual std::string export_event(DeviceEvent& event) = 0;
  /// data() stands for the exported address. Throws RunError where it cannot be mapped: no peer
  /// access, another container.
  virtual std::unique_ptr<DeviceMemory> import_memory(const std::string& exported) = 0;
  virtual std::unique_ptr<DeviceEvent> import_event(const std::string& exported) = 0;

  /// Waits for all queues; for set-up and the choice of routes, never in the timed loop.
  virtual void synchronize() = 0;
  /// Copies that wait, for set-up: between host memory and this device's.
  virtual void write(std::byte* to, const std::byte* from_host, Bytes size_bytes) = 0;
  virtual void read(std::byte* to_host, const std::byte* from, Bytes size_bytes) = 0;
};

}  // namespace hios::mpi
