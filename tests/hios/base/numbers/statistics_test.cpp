#include "hios/base/numbers/statistics.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

namespace hios {
namespace {

TEST(Statistics, EqualASingleSample) {
  const std::vector<double> one = {3.5};
  const Statistics s = summarize(one);
  for (const double value : {s.min, s.best_quarter, s.median, s.p95, s.p99, s.mean}) {
    EXPECT_EQ(value, 3.5);
  }
  EXPECT_EQ(s.samples, 1U);
}

TEST(Statistics, TakeMediansAndNearestRanks) {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1.0);
  std::reverse(samples.begin(), samples.end());
  const Statistics s = summarize(samples);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.best_quarter, 13);  // the median of 1 … 25
  EXPECT_EQ(s.median, 50.5);
  EXPECT_EQ(s.p95, 95);
  EXPECT_EQ(s.p99, 99);
  EXPECT_EQ(s.mean, 50.5);
  EXPECT_EQ(percentile(samples, 0), 1);
  EXPECT_EQ(percentile(samples, 99.5), 100);
  EXPECT_EQ(percentile(samples, 100), 100);
}

TEST(Statistics, AreSamplesInOrder) {
  Random random(5);
  for (std::size_t count = 1; count < 60; ++count) {
    SCOPED_TRACE(count);
    std::vector<double> samples(count);
    for (double& sample : samples) sample = random.uniform(1, 9);
    const Statistics s = summarize(samples);
    EXPECT_LE(s.min, s.best_quarter);
    EXPECT_LE(s.best_quarter, s.median);
    EXPECT_LE(s.median, s.p95);
    EXPECT_LE(s.p95, s.p99);
  }
}

TEST(FastestQuarter, KeepsTheOrderOfTheSweeps) {
  EXPECT_EQ(fastest_quarter(std::vector<double>{5}), (std::vector<std::size_t>{0}));
  EXPECT_EQ(fastest_quarter(std::vector<double>{5, 1, 4, 2, 9, 3, 8, 7}),
            (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(fastest_quarter(std::vector<double>{1, 2, 2, 2, 2}), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(fastest_quarter({}).empty());
}

TEST(FastestQuarter, LeavesDisturbedOnesOutWhileEnoughOthersRemain) {
  // 32 totals: 0, 1, 2, …; a quarter is eight.
  std::vector<double> totals(32);
  std::iota(totals.begin(), totals.end(), 0.0);
  std::vector<bool> disturbed(32, false);
  for (std::size_t i = 0; i < 24; ++i) disturbed[i] = true;
  EXPECT_EQ(fastest_quarter(totals, disturbed),
            (std::vector<std::size_t>{24, 25, 26, 27, 28, 29, 30, 31}));
  EXPECT_EQ(summarize(totals, disturbed).best_quarter, 27.5);
  EXPECT_EQ(summarize(totals, disturbed).disturbed, 24u);
  EXPECT_EQ(summarize(totals, disturbed).min, 0) << "only best_quarter leaves them out";
  disturbed[24] = true;  // seven are too few
  EXPECT_EQ(fastest_quarter(totals, disturbed), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(FastestQuarter, LeavesOutTheDisturbedOfAFewWhileHalfRemain) {
  const std::vector<double> totals = {1, 2, 3, 4};
  EXPECT_EQ(fastest_quarter(totals, {true, false, false, false}), (std::vector<std::size_t>{1}));
  EXPECT_EQ(fastest_quarter(totals, {true, true, false, false}), (std::vector<std::size_t>{2}));
  EXPECT_EQ(fastest_quarter(totals, {true, true, true, false}), (std::vector<std::size_t>{0}));
}

TEST(Statistics, AreWrittenWithTheirNames) {
  const std::vector<double> samples = {1, 2};
  EXPECT_EQ(
      to_json(summarize(samples)).dump(),
      R"({"min":1.0,"best_quarter":1.0,"median":1.5,"p95":2.0,"p99":2.0,"mean":1.5,"samples":2,"disturbed":0})");
}

}  // namespace
}  // namespace hios
