#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "mpi/accelerator.h"

/// Devices of several ranks that send each other data in order with their queues, also between
/// hosts, by a library of their maker (NCCL).
namespace hios::mpi {

/// One rank's member of a group. Used by the main thread only. Calls throw DeviceError with the
/// library's message.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;
  /// Queue the sending of bytes to a member, and the receiving of bytes from one. The queue waits
  /// there until the other member's call has its turn. A member's calls have their turns in the
  /// order in which they were made, whatever their queues. REQUIRES: the members make their calls
  /// in one order of all messages.
  virtual void send(const std::byte* from, Bytes size_bytes, std::size_t member, Queue queue) = 0;
  virtual void receive(std::byte* to, Bytes size_bytes, std::size_t member, Queue queue) = 0;
  /// Throws if the library has noticed a failure, its own or another member's. Does not wait.
  virtual void check() = 0;
  /// Ends all calls that wait for other members, so that the device can be given back; later ones
  /// throw. Returns false if it has not ended after some seconds; it ends in a thread of its own,
  /// then. REQUIRES: recordings that hold calls have been destroyed; the library waits for that.
  virtual bool abandon() noexcept = 0;
};

/// A device that can be a member of groups. An Accelerator may be one, too.
class GroupingDevice {
 public:
  virtual ~GroupingDevice() = default;
  /// Returns the library and its version, "NCCL 2.28.3", which members must have in common. Throws
  /// RunError with the reason if there is none that serves.
  virtual std::string group_library() = 0;
  /// Returns a text without line breaks by which the members of a new group find each other.
  virtual std::string name_group() = 0;
  /// Makes this rank's member of the group of that name; returns when all have. Collective among
  /// the members. Throws RunError, on all of them, if the library refuses their devices; and if it
  /// waits too long for another member, where the library can be left then.
  virtual std::unique_ptr<DeviceGroup> join_group(const std::string& name, std::size_t member,
                                                  std::size_t members) = 0;
};

}  // namespace hios::mpi
