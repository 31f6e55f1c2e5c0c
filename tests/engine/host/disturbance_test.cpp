#include "engine/host/disturbance.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

constexpr std::string_view kStat =
    "cpu  10132153 290696 3084719 46828483 16683 0 25195 175628 12 0\n"
    "cpu0 1393280 32966 572056 13343292 6130 0 17875 99999 0 0\n";

TEST(StolenTime, IsTheEighthNumberOfTheSumOverAllCores) {
  EXPECT_DOUBLE_EQ(stolen_ms(kStat, 100), 1756280);
  EXPECT_DOUBLE_EQ(stolen_ms(kStat, 1000), 175628);
}

TEST(StolenTime, IsZeroWhereTheSystemLacksIt) {
  for (const std::string_view text :
       {"", "cpu", "cpu  1 2 3 4 5 6 7", "cpu0 1 2 3 4 5 6 7 8 9", "intr 1 2 3", "cpu  1 2 x 4"}) {
    EXPECT_EQ(stolen_ms(text, 100), 0) << text;
  }
  EXPECT_EQ(stolen_ms(kStat, 0), 0);
}

TEST(Disturbed, WhereAHundredthOfTheTimeWasStolen) {
  const DisturbanceCounts before{.stolen_ms = 500, .switches = 7};
  EXPECT_FALSE(disturbed(before, before, 20));
  EXPECT_TRUE(disturbed(before, {.stolen_ms = 510, .switches = 7}, 20));
  EXPECT_TRUE(disturbed(before, {.stolen_ms = 510, .switches = 7}, 1000));
  EXPECT_FALSE(disturbed(before, {.stolen_ms = 510, .switches = 7}, 1001));
}

TEST(Disturbed, WhereCoresWereTakenAwayMoreThanOnceInTenMilliseconds) {
  const DisturbanceCounts before{.stolen_ms = 0, .switches = 100};
  const auto after = [&](std::uint64_t switches) {
    return DisturbanceCounts{.stolen_ms = 0, .switches = 100 + switches};
  };
  EXPECT_TRUE(disturbed(before, after(1), 5));
  EXPECT_FALSE(disturbed(before, after(1), 10));
  EXPECT_TRUE(disturbed(before, after(2), 14));
  EXPECT_FALSE(disturbed(before, after(20), 200));
  EXPECT_TRUE(disturbed(before, after(21), 200));
}

TEST(HostDisturbance, OnlyCountsUp) {
  HostDisturbance reader;
  const DisturbanceCounts first = reader.read(), second = reader.read();
  EXPECT_GE(first.stolen_ms, 0);
  EXPECT_GE(second.stolen_ms, first.stolen_ms);
  EXPECT_GE(second.switches, first.switches);
}

}  // namespace
}  // namespace hios
