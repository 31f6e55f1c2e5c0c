#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hios/base/error.h"
#include "hios/base/ids.h"

/// The interface of a device, as a transport needs it: the device's work is queued and runs
/// asynchronously, and tensors leave it and arrive on it in order with that work. No CUDA type
/// appears here. The implementations are engine/cuda and, in tests, a fake that runs its queues in
/// any order that the contract allows.
namespace hios::mpi {

/// A failure that a device reports, possibly long after the call that caused it. Any work that was
/// queued until then may be its cause.
class DeviceError : public RunError {
  using RunError::RunError;
};

/// Out of device memory for this request. The device remains usable.
class DeviceMemoryError : public DeviceError {
  using DeviceError::DeviceError;
};

/// In-order queues of a device. Work on a queue starts when all earlier work on the same queue has
/// ended; between queues only events order work. Stages fork from kWork and join to it; kOut
/// carries data that leave the device. Data from other ranks arrive on one queue for each rank
/// (Accelerator::in_queue), so that no copy waits for the late tensor of another rank; parameters
/// of a cold start on one for each lane (Accelerator::load_queue).
enum class Queue : std::size_t { kWork, kOut, kFirstIn };

/// A point in a queue, recorded again in every iteration.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Returns true once all work that was queued before the last record() has ended, or if the event
  /// was never recorded. Does not wait. Throws RunError if that work failed.
  virtual bool done() = 0;
};

/// Memory that is freed with this object, after the queued copies that use it have ended. It is the
/// device's own, pinned host memory (which the device copies from and to directly), or a peer's
/// device memory mapped here.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual std::byte* data() = 0;
};

/// One device as this rank uses it, by the main thread only. No call waits for the device unless
/// its comment says so; record, wait, copy, fill and done allocate nothing. All throw RunError with
/// the device's own message, and DeviceError if queued work failed.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  /// Identifies the device: unique on the machine, and equal for two ranks that share it
  /// ("GPU-3f…").
  virtual const std::string& identity() const = 0;

  /// Throw RunError that names the size and the purpose `what`.
  virtual std::unique_ptr<DeviceMemory> make_pinned(Bytes size_bytes, const std::string& what) = 0;
  virtual std::unique_ptr<DeviceMemory> make_memory(Bytes size_bytes, const std::string& what) = 0;

  /// Returns the queue for copies of data from `peer`; created at the first call, during set-up.
  virtual Queue in_queue(Rank peer) = 0;
  /// Returns the queue for a lane's loads of parameters; likewise.
  virtual Queue load_queue(std::size_t lane) = 0;

  /// Makes an event; a `shared` one may be exported to another process.
  virtual std::unique_ptr<DeviceEvent> make_event(bool shared) = 0;
  /// Records the event: it then stands for all work queued on `queue` so far.
  virtual void record(DeviceEvent& event, Queue queue) = 0;
  /// Makes later work on `queue` wait for the event's last record. The host does not wait.
  virtual void wait(DeviceEvent& event, Queue queue) = 0;
  /// Queues a copy between any two of: this device's memory, mapped memory, pinned memory.
  virtual void copy(std::byte* to, const std::byte* from, Bytes size_bytes, Queue queue) = 0;
  /// Queues the writing of one value to every byte of this device's memory.
  virtual void fill(std::byte* to, std::byte value, Bytes size_bytes, Queue queue) = 0;

  /// Return a text without line breaks by which another process on the same host can map `address`
  /// or wait for the event. Throw RunError if the device cannot share.
  virtual std::string export_memory(const std::byte* address) = 0;
  virtual std::string export_event(DeviceEvent& event) = 0;
  /// Maps the exported address; data() then points to it. Throws RunError if that is impossible (no
  /// peer access, another container).
  virtual std::unique_ptr<DeviceMemory> import_memory(const std::string& exported) = 0;
  virtual std::unique_ptr<DeviceEvent> import_event(const std::string& exported) = 0;

  /// Waits for all queues; for set-up and the choice of routes, never in the timed loop.
  virtual void synchronize() = 0;
  /// Copy between host memory and this device's, and wait for the copy; for set-up.
  virtual void write(std::byte* to, const std::byte* from_host, Bytes size_bytes) = 0;
  virtual void read(std::byte* to_host, const std::byte* from, Bytes size_bytes) = 0;
};

}  // namespace hios::mpi
