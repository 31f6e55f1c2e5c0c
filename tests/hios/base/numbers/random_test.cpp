#include "hios/base/numbers/random.h"

#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace hios {
namespace {

TEST(Random, IsSplitmix64) {
  // The published sequence of seed 1234567.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Random, HasAStreamForEachSeedAndName) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba", "conv_1", "conv_2"}) {
      firsts.insert(Random(seed, name).next());
    }
  }
  EXPECT_EQ(firsts.size(), 700u);
  EXPECT_EQ(Random(3, "conv_1").next(), Random(3, "conv_1").next());
}

TEST(Random, IsUniform) {
  Random random(7, "uniform");
  double sum = 0;
  std::array<int, 10> tenths{};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    ++tenths[static_cast<std::size_t>(x * 10)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  for (const int count : tenths) EXPECT_NEAR(count, kDraws / 10, 500);
  const double ranged = random.uniform(0.1, 4);
  EXPECT_GE(ranged, 0.1);
  EXPECT_LT(ranged, 4);
}

TEST(Random, DrawsBelowABoundWithoutBias) {
  Random random(11, "below");
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0u);

  // Two thirds of 2^64: a plain remainder would draw the lower half twice as often.
  const std::uint64_t bound = (~std::uint64_t{0} / 3) * 2;
  int lower = 0;
  for (int i = 0; i < 10'000; ++i) lower += random.below(bound) < bound / 2 ? 1 : 0;
  EXPECT_NEAR(lower, 5'000, 300);
}

}  // namespace
}  // namespace hios
