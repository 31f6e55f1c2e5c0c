#include "engine/measure/stages/stage_time.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

const Protocol kWanted{.warmup_s = 0.5, .iterations = 30};

int iterations(const BatchTime& time) { return protocol_of_batch(kWanted, time).iterations; }

TEST(StageTime, SufficesForAllStagesWhereThereIsEnough) {
  EXPECT_EQ(iterations({.left_s = 100, .sweep_s = 0.1, .warmup_s = 0.5, .batches = 10}), 30);
}

TEST(StageTime, IsShared) {
  EXPECT_EQ(iterations({.left_s = 20, .sweep_s = 0.1, .batches = 10}), 20);
  EXPECT_EQ(iterations({.left_s = 20, .sweep_s = 0.1, .coming_s = 0.5, .batches = 10}), 15)
      << "4.5 s of them go to making others";
}

// A thousand batches that each want half a second of warm-up do not fit into 20 s; the first do.
TEST(StageTime, MeasuresAsManyBatchesAsFit) {
  const BatchTime first{.left_s = 20, .sweep_s = 0.02, .warmup_s = 0.5, .batches = 1017};
  EXPECT_EQ(iterations(first), 10);
  BatchTime later = first;
  later.coming_s = 0.6;
  EXPECT_EQ(iterations(later), 10);
  later.left_s = 0.69;
  EXPECT_EQ(iterations(later), 0) << "not even this one";
  later.left_s = 0.71;
  EXPECT_EQ(iterations(later), 10);
}

TEST(StageTime, LeavesSpareTimeToSettle) {
  const Protocol protocol =
      protocol_of_batch(kWanted, {.left_s = 4.5, .sweep_s = 0.1, .batches = 1, .settle_s = 10});
  EXPECT_EQ(protocol.iterations, 30);
  EXPECT_NEAR(protocol.settle_s, 1.5, 1e-12);
}

TEST(StageTime, WarmsUpAgainOnlyAfterAPause) {
  EXPECT_EQ(warmup_after(0.01, kWanted), 0);
  EXPECT_EQ(warmup_after(1, kWanted), 0.5);
}

}  // namespace
}  // namespace hios
