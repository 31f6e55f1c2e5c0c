#include "hios/flight/event_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace hios::flight {
namespace {

void add(EventRing& ring, std::uint64_t iteration) {
  ring.finish(ring.claim(), {.time_ns = 2 * iteration, .iteration = iteration, .what = iteration});
}

/// Expects the last events, of consecutive iterations that end with `last`.
void expect_all_until(const EventRing& ring, std::uint64_t last) {
  const std::vector<EventWords> events = ring.last();
  ASSERT_EQ(events.size(), kEvents);
  for (std::size_t i = 0; i < kEvents; ++i) {
    EXPECT_EQ(events[i].iteration, last - kEvents + 1 + i);
    EXPECT_EQ(events[i].what, events[i].iteration);
    EXPECT_EQ(events[i].time_ns, 2 * events[i].iteration);
  }
}

class EventRings : public testing::Test {
 protected:
  std::unique_ptr<EventRing> ring_ = std::make_unique<EventRing>();
};

TEST_F(EventRings, KeepTheLastEventsInOrder) {
  EXPECT_TRUE(ring_->last().empty());
  for (std::uint64_t i = 0; i < 3; ++i) add(*ring_, i);
  EXPECT_EQ(ring_->last().size(), 3u);
  for (std::uint64_t i = 3; i < 2000; ++i) add(*ring_, i);
  expect_all_until(*ring_, 1999);
}

TEST_F(EventRings, AThreadThatIsOvertakenByWholeTurnsLosesNoLaterEvent) {
  for (std::uint64_t i = 0; i < 100; ++i) add(*ring_, i);
  const EventRing::Claim halted = ring_->claim(), other = ring_->claim();
  for (std::uint64_t i = 0; i < 5 * EventRing::kSlots; ++i) {
    add(*ring_, i);
    if (i >= kEvents - 1) expect_all_until(*ring_, i);
    if (HasFatalFailure()) return;
  }
  ring_->finish(halted, {.time_ns = 1, .iteration = 1, .what = 9});
  expect_all_until(*ring_, 5 * EventRing::kSlots - 1);
  for (std::uint64_t i = 5 * EventRing::kSlots; i < 9 * EventRing::kSlots; ++i) add(*ring_, i);
  ring_->finish(other, {.time_ns = 1, .iteration = 1, .what = 9});
  expect_all_until(*ring_, 9 * EventRing::kSlots - 1);
}

TEST_F(EventRings, AnEventThatIsBeingWrittenIsMissing) {
  add(*ring_, 1);
  const EventRing::Claim claim = ring_->claim();
  add(*ring_, 3);
  ASSERT_EQ(ring_->last().size(), 2u);
  EXPECT_EQ(ring_->last()[1].iteration, 3u);
  ring_->finish(claim, {.time_ns = 4, .iteration = 2, .what = 2});
  ASSERT_EQ(ring_->last().size(), 3u);
  EXPECT_EQ(ring_->last()[1].iteration, 2u);
}

}  // namespace
}  // namespace hios::flight
