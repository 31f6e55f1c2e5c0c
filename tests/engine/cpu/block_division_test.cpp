#include "engine/cpu/convolutions/block_division.h"

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>
#include <string>

namespace hios::cpu {
namespace {

constexpr std::int64_t kBlockKiB = 1024;

/// Returns how often each row is computed.
std::vector<int> computed(const BlockDivision& division) {
  std::vector<int> times(static_cast<std::size_t>(division.rows));
  std::mutex mutex;
  BlockWorkers(division).run([&](std::size_t worker, std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex);
    EXPECT_LT(worker, static_cast<std::size_t>(division.workers));
    EXPECT_GT(count, 0);
    for (std::int64_t row = first; row < first + count; ++row) {
      ++times.at(static_cast<std::size_t>(row));
    }
  });
  return times;
}

TEST(BlockDivision, ComputesEachRowOnce) {
  for (const std::int64_t rows : {1, 2, 7, 64, 113}) {
    for (const int threads : {1, 2, 3, 5}) {
      for (const std::int64_t block_rows : {0, 1, 2, 200}) {
        for (const std::int64_t weights : {kBlockKiB, 4096 * kBlockKiB}) {
          const BlockDivision division =
              divide_rows({rows, 100 * kBlockKiB, weights}, threads, block_rows);
          EXPECT_EQ(division.workers * division.threads, threads);
          EXPECT_GT(division.fewest_rows(), 0);
          EXPECT_EQ(computed(division), std::vector<int>(static_cast<std::size_t>(rows), 1));
        }
      }
    }
  }
}

TEST(BlockDivision, KeepsABlockInCacheUnlessWeightsAreMany) {
  EXPECT_EQ(divide_rows({64, 100 * kBlockKiB, kBlockKiB}, 1).most_rows(), 5);  // of 512 KiB
  EXPECT_EQ(divide_rows({64, 100 * kBlockKiB, 3000 * kBlockKiB}, 1).most_rows(), 22);
  EXPECT_EQ(divide_rows({64, 100 * kBlockKiB, kBlockKiB}, 1, 7).most_rows(), 7);
  EXPECT_EQ(divide_rows({3, 100 * kBlockKiB, kBlockKiB}, 1, 7).most_rows(), 3);
}

TEST(BlockDivision, IsAsEvenAsWholeRowsAllow) {
  const BlockDivision division = divide_rows({42, 28 * kBlockKiB, kBlockKiB}, 2);
  EXPECT_EQ(division.blocks, 4);
  EXPECT_EQ(division.fewest_rows(), 10);
  EXPECT_EQ(division.most_rows(), 11);
  EXPECT_EQ(division.longest_share(), 21);
  EXPECT_EQ(divide_rows({42, 28 * kBlockKiB, kBlockKiB}, 2, 11).longest_share(), 22);
}

TEST(BlockDivision, LetsThreadsWorkAloneWhereRowsDivideEvenlyAndWeightsAreFew) {
  EXPECT_EQ(divide_rows({64, 100 * kBlockKiB, kBlockKiB}, 4).workers, 4);
  EXPECT_EQ(divide_rows({7, kBlockKiB, kBlockKiB}, 2).workers, 2);  // four rows and three
  EXPECT_EQ(divide_rows({5, kBlockKiB, kBlockKiB}, 4).workers,
            1);  // two rows each, and one thread without
  EXPECT_EQ(divide_rows({1, kBlockKiB, kBlockKiB}, 2).workers, 1);
  EXPECT_EQ(divide_rows({64, 100 * kBlockKiB, 4096 * kBlockKiB}, 4).workers, 1);
}

TEST(BlockDivision, CoversEachImageWithBlocksOfItsOwn) {
  for (const std::int64_t images : {1, 2, 5}) {
    for (const std::int64_t rows : {1, 7, 56, 113}) {
      for (const int threads : {1, 2, 3, 5}) {
        const BlockDivision division =
            divide_images({images, rows, 40 * kBlockKiB, kBlockKiB}, threads);
        EXPECT_EQ(division.workers * division.threads, threads);
        EXPECT_EQ(division.blocks % images, 0);
        EXPECT_EQ(division.rows, division.blocks * division.most_rows());
        const std::int64_t of_each = division.blocks / images;
        EXPECT_GE(of_each * division.most_rows(), rows);
        EXPECT_LT((of_each - 1) * division.most_rows(), rows);
      }
    }
  }
}

TEST(BlockDivision, ChoosesBlocksThatDivideImagesEvenly) {
  EXPECT_EQ(divide_images({1, 56, 64 * kBlockKiB, kBlockKiB}, 1).most_rows(), 8);
  EXPECT_EQ(divide_images({1, 56, 60 * kBlockKiB, kBlockKiB}, 2).most_rows(), 7);
  EXPECT_EQ(divide_images({1, 56, 60 * kBlockKiB, kBlockKiB}, 2).workers, 2);
  EXPECT_EQ(divide_images({1, 56, 600 * kBlockKiB, kBlockKiB}, 1).most_rows(), 1);
  EXPECT_EQ(divide_images({1, 5, kBlockKiB, kBlockKiB}, 4).workers, 1);
  EXPECT_EQ(divide_images({4, 5, kBlockKiB, kBlockKiB}, 4).workers, 4);
  EXPECT_EQ(divide_images({1, 56, 60 * kBlockKiB, 4096 * kBlockKiB}, 2).workers, 1);
}

TEST(BlockWorkers, RethrowOneExceptionAndForgetTheOthers) {
  BlockWorkers workers(divide_rows({8, 100 * kBlockKiB, kBlockKiB}, 2));
  ASSERT_EQ(workers.division().workers, 2);
  const auto throwing = [](std::size_t worker, std::int64_t, std::int64_t) {
    throw std::runtime_error("worker " + std::to_string(worker));
  };
  EXPECT_THROW(workers.run(throwing), std::runtime_error);
  EXPECT_NO_THROW(workers.run([](std::size_t, std::int64_t, std::int64_t) {}));
}

}  // namespace
}  // namespace hios::cpu
