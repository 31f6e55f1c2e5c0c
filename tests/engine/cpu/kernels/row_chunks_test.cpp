// The division of rows and chunks among threads: each is in one share, and shares are even.
#include "engine/cpu/kernels/row_chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hios::cpu {
namespace {

struct DivisionCase {
  std::size_t images, rows, chunks, together;
};

/// Returns the groups of each thread's share.
std::vector<std::vector<RowChunks>> shares_of(const DivisionCase& of, int threads) {
  std::vector<std::vector<RowChunks>> shares(static_cast<std::size_t>(threads));
  const RowDivision division(of.images, of.rows, of.chunks, of.together);
  for (int worker = 0; worker < threads; ++worker) {
    division.run_share(worker, threads, [&](const RowChunks& group) {
      shares[static_cast<std::size_t>(worker)].push_back(group);
    });
  }
  return shares;
}

std::vector<DivisionCase> division_cases() {
  std::vector<DivisionCase> cases;
  for (const std::size_t together : {1u, 2u}) {
    for (const std::size_t rows : {1u, 2u, 7u, 10u}) {
      for (const std::size_t chunks : {1u, 3u, 21u}) {
        cases.push_back({1, rows, chunks, together});
        cases.push_back({3, rows, chunks, together});
      }
    }
  }
  return cases;
}

TEST(RowDivision, HasEveryChunkOfEveryRowOnceAndNoGroupOfTwoImages) {
  for (const DivisionCase& of : division_cases()) {
    for (const int threads : {1, 2, 3, 5}) {
      std::vector<int> times(of.images * of.rows * of.chunks);
      for (const auto& share : shares_of(of, threads)) {
        for (const RowChunks& group : share) {
          ASSERT_GE(group.rows, 1u);
          ASSERT_LE(group.rows, of.together);
          ASSERT_EQ(group.row / of.rows, (group.row + group.rows - 1) / of.rows);
          ASSERT_LE(group.last_chunk, of.chunks);
          for (std::size_t row = group.row; row < group.row + group.rows; ++row) {
            for (std::size_t c = group.first_chunk; c < group.last_chunk; ++c) {
              ++times[row * of.chunks + c];
            }
          }
        }
      }
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), std::ssize(times))
          << of.images << " images of " << of.rows << " rows of " << of.chunks << " chunks, "
          << of.together << " together, " << threads << " threads";
    }
  }
}

TEST(RowDivision, HasEvenShares) {
  for (const DivisionCase& of : division_cases()) {
    std::vector<std::size_t> sizes;
    for (const auto& share : shares_of(of, 2)) {
      std::size_t size = 0;
      for (const RowChunks& group : share) {
        size += group.rows * (group.last_chunk - group.first_chunk);
      }
      sizes.push_back(size);
    }
    const auto [least, most] = std::minmax(sizes[0], sizes[1]);
    EXPECT_LE(most - least, 2 * of.together)
        << of.images << " images of " << of.rows << " rows of " << of.chunks << " chunks";
  }
}

}  // namespace
}  // namespace hios::cpu
