#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hios/flight/recorder.h"

/// The ring buffer of a flight record's events. It lies in memory that processes share, filled with
/// zeros at first, and holds lock-free atomics only.
namespace hios::flight {

/// An event in the words that the ring holds.
struct EventWords {
  std::uint64_t time_ns = 0;
  std::uint64_t iteration = 0;
  std::uint64_t what = 0;  ///< kind, stamp of the subject, subject
};

/// Several threads may write at once, and handlers of signals, too: none waits. A reader in another
/// process needs no lock, which a killed process could still hold.
class EventRing {
 public:
  /// Twice the events that a reader gets: slots of threads that are halted while they write are
  /// passed over, and 256 others are there all the same.
  static constexpr std::size_t kSlots = 2 * kEvents;

  /// A slot that one writer has to itself until it calls finish().
  struct Claim {
    std::size_t slot;
    std::uint64_t number;
  };

  /// Claims the next slot that no other writer has.
  Claim claim() noexcept {
    while (true) {
      const std::uint64_t number = events_.fetch_add(1, std::memory_order_relaxed) + 1;
      Slot& slot = slots_[number % kSlots];
      std::uint64_t held = slot.number.load(std::memory_order_relaxed);
      // A thread that is overtaken before the exchange finds a later event, which stays; one that
      // is overtaken after it still has the slot.
      if (held < number &&
          slot.number.compare_exchange_strong(held, kBeingWritten, std::memory_order_acquire,
                                              std::memory_order_relaxed))
        return {static_cast<std::size_t>(number % kSlots), number};
    }
  }

  void finish(const Claim& claim, const EventWords& words) noexcept {
    Slot& slot = slots_[claim.slot];
    // Each release orders the claim before it: a reader of any new value sees that the slot was
    // claimed. (One fence would do, but the thread sanitizer does not support fences.)
    slot.time_ns.store(words.time_ns, std::memory_order_release);
    slot.iteration.store(words.iteration, std::memory_order_release);
    slot.what.store(words.what, std::memory_order_release);
    slot.number.store(claim.number, std::memory_order_release);
  }

  /// Returns the last kEvents, oldest first. Those that are being written are missing.
  std::vector<EventWords> last() const;

 private:
  static constexpr std::uint64_t kBeingWritten = ~std::uint64_t{0};

  struct Slot {
    std::atomic<std::uint64_t> number;  ///< of the event among all, from 1; 0: none yet
    std::atomic<std::uint64_t> time_ns, iteration, what;
  };

  std::atomic<std::uint64_t> events_;  ///< the last number that was given
  std::array<Slot, kSlots> slots_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes cannot share a lock");

}  // namespace hios::flight
