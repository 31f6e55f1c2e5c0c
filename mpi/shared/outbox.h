#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "mpi/shared/shared_memory.h"

/// Memory of a rank in which its messages lie until the other ranks of the host have copied them.
namespace hios::mpi {

/// A message's entry in the outbox. The sender writes `turn` and `at`, the receiver `taken`, each
/// in cache lines of their own; both count the times that the message was sent.
struct OutboxEntry {
  alignas(64) std::atomic<std::uint64_t> turn;  ///< is there, from the byte `at` of the outbox
  std::uint64_t at;
  alignas(64) std::atomic<std::uint64_t> taken;
};

/// The outbox of another rank, mapped here.
class OpenedOutbox {
 public:
  /// Throws RunError where it cannot be opened.
  explicit OpenedOutbox(const std::string& name);
  OutboxEntry& entry(std::size_t index) const;
  const std::byte* bytes(const OutboxEntry& entry) const { return memory_.data() + entry.at; }

 private:
  SharedMemory memory_;
};

/// This rank's outbox. Main thread only.
class Outbox {
 public:
  /// The largest message that fits.
  static constexpr Bytes kMostBytes = Bytes{16} << 20;

  /// Throws RunError where the system refuses memory.
  Outbox();
  const std::string& name() const { return memory_.name(); }

  /// Returns a free entry, whose counts are 0. Throws RunError where all are taken.
  std::size_t take_entry();
  /// Frees the entry once its message has been taken.
  void leave_entry(std::size_t index);

  /// Copies a message to the outbox, and shows it to its receiver. Returns false, with no effect,
  /// where there is no room for it yet, or the receiver has not taken the one before. REQUIRES: at
  /// most kMostBytes.
  bool put(std::size_t index, const std::byte* data, Bytes size_bytes);
  bool taken(std::size_t index) const;

 private:
  /// Room that a message has in the outbox.
  struct Room {
    std::size_t first = 0, end = 0;  // granules
  };

  OutboxEntry& entry(std::size_t index) const;
  void free_room();
  std::optional<Room> room_for(Bytes size_bytes);
  std::optional<Room> gap_for(std::size_t granules);

  SharedMemory memory_;
  std::vector<bool> used_;         // by granule
  std::vector<Room> rooms_;        // by entry
  std::vector<std::size_t> free_;  // entries
  std::vector<std::size_t> leaving_;
};

}  // namespace hios::mpi
