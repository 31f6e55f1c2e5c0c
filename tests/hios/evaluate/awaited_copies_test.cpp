#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/message_run.h"

namespace hios {
namespace {

using Copy = AwaitedCopies::Copy;

/// Returns the copies by their definition: one a message, with the latest arrival and the longest
/// copy, in the order of arrival.
std::vector<Copy> joined(const std::vector<Copy>& added) {
  std::map<std::size_t, Copy> by_message;
  for (const Copy& copy : added) {
    if (copy.ms <= 0) continue;
    Copy& known = by_message.try_emplace(copy.message, copy).first->second;
    known.arrival_ms = std::max(known.arrival_ms, copy.arrival_ms);
    known.ms = std::max(known.ms, copy.ms);
  }
  std::vector<Copy> all;
  for (const auto& [message, copy] : by_message) all.push_back(copy);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(AwaitedCopies, AreOneAMessageInTheOrderOfArrival) {
  AwaitedCopies copies;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "awaited copies");
    std::vector<Copy> added;
    copies.clear();
    for (std::uint64_t i = random.below(12); i > 0; --i) {
      // Few different numbers: messages, arrivals and copies are often equal.
      added.push_back({static_cast<double>(random.below(4)),
                       static_cast<double>(random.below(4)) - 0.5,
                       static_cast<std::size_t>(random.below(6))});
      copies.add(added.back().message, added.back().arrival_ms, added.back().ms);
    }
    const std::vector<Copy> expected = joined(added);
    const auto sorted = copies.sort();
    EXPECT_EQ(std::vector<Copy>(sorted.begin(), sorted.end()), expected);
    double end_ms = 1.5, total_ms = 0;
    for (const Copy& copy : expected) {
      end_ms = std::max(copy.arrival_ms, end_ms + copy.ms);
      total_ms += copy.ms;
    }
    EXPECT_EQ(copies.end_ms(1.5), end_ms);
    EXPECT_EQ(copies.total_ms(), total_ms);
    if (HasFailure()) return;
  }
}

TEST(AwaitedCopies, EndAsEarlyFromTheLatestBegin) {
  AwaitedCopies copies;
  copies.add(7, 10, 2);
  copies.add(3, 4, 1);
  copies.add(7, 6, 3);
  copies.sort();
  EXPECT_EQ(copies.end_ms(-std::numeric_limits<double>::infinity()), 10);
  EXPECT_EQ(copies.latest_begin_ms(0), 6);
  EXPECT_EQ(copies.end_ms(6), 10);
  EXPECT_EQ(copies.end_ms(6.5), 10.5);
}

// Each message is a new one: linear searches among those before it would take minutes.
TEST(AwaitedCopies, MayBeVeryMany) {
  constexpr std::size_t kMessages = 300'000;
  AwaitedCopies copies;
  for (std::size_t m = 0; m < kMessages; ++m) copies.add(m, static_cast<double>(kMessages - m), 1);
  EXPECT_EQ(copies.sort().size(), kMessages);
  EXPECT_EQ(copies.total_ms(), static_cast<double>(kMessages));
}

}  // namespace
}  // namespace hios
