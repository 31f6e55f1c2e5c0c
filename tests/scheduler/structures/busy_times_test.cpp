#include "scheduler/structures/busy_times.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

/// Works are placed where they fit first, or far from that. Each search gives what a visit of all
/// slots gives, also for works that take no time or almost none.
TEST(BusyTimes, FindTheGapsThatAVisitOfAllSlotsFinds) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "busy");
    BusyTimes<int> times;
    for (int i = 0; i < 150; ++i) {
      const bool whole = seed % 2 == 0;
      const double ready = whole ? static_cast<double>(random.below(100)) : random.uniform(0, 100);
      double length = whole ? static_cast<double>(random.below(5)) : random.uniform(0, 4);
      if (random.below(10) == 0) length = random.below(2) == 0 ? 0 : 1e-18;
      const double copy = random.below(3) == 0 ? 0.5 : 0;
      const auto plain = [&](double begin, double end) { return begin + length <= end; };
      const double start = times.first_gap_among_slots(ready, plain);
      ASSERT_EQ(times.first_gap_ms(ready, length), start);
      // A work that starts later than it could, as one that waits for copies.
      const auto late = [&](double begin, double end) {
        return std::max(begin + copy, ready) + length <= end;
      };
      const double waits = times.first_gap_among_slots(ready, late);
      ASSERT_EQ(times.first_gap_ms(ready, length, late), waits);
      if (random.below(4) > 0) {
        times.insert(start, start + length, i);
      } else {
        times.insert(waits, std::max(waits + copy, ready) + length, i);
      }
    }
    times.clear();
    EXPECT_EQ(times.first_gap_ms(3, 1), 3);
  }
}

}  // namespace
}  // namespace hios::scheduler
