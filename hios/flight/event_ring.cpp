#include "hios/flight/event_ring.h"

#include <algorithm>

// A writer takes the next number, and claims the number's slot by an exchange that fails where
// another writer has it. It fills the slot, and stores the number last. A reader accepts only slots
// that have the expected number both before and after it reads them. A number whose slot could not
// be claimed belongs to no event. tests/hios/flight/event_ring_test.cpp.
namespace hios::flight {

std::vector<EventWords> EventRing::last() const {
  std::vector<EventWords> events;
  const std::uint64_t end = events_.load(std::memory_order_acquire);
  for (std::uint64_t number = end; number > 0 && end - number < kSlots && events.size() < kEvents;
       --number) {
    const Slot& slot = slots_[number % kSlots];
    if (slot.number.load(std::memory_order_acquire) != number) continue;
    const EventWords words{.time_ns = slot.time_ns.load(std::memory_order_acquire),
                           .iteration = slot.iteration.load(std::memory_order_acquire),
                           .what = slot.what.load(std::memory_order_acquire)};
    if (slot.number.load(std::memory_order_relaxed) == number) events.push_back(words);
  }
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace hios::flight
