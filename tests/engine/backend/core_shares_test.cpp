#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/backend/backend.h"

namespace hios {
namespace {

CoreShare share(std::size_t stream, int threads, int first_core) {
  return {StreamIndex(stream), threads, first_core};
}

TEST(Lanes, OneGroupHasAllCores) { EXPECT_EQ(core_shares(1, 4), (std::vector{share(0, 4, 0)})); }

TEST(Lanes, FirstGroupsGetTheRemainder) {
  EXPECT_EQ(core_shares(2, 4), (std::vector{share(0, 2, 0), share(1, 2, 2)}));
  EXPECT_EQ(core_shares(3, 4), (std::vector{share(0, 2, 0), share(1, 1, 2), share(2, 1, 3)}));
  EXPECT_EQ(core_shares(3, 8), (std::vector{share(0, 3, 0), share(1, 3, 3), share(2, 2, 6)}));
}

TEST(Lanes, LaterGroupsShareCoresWhereThereAreTooFew) {
  EXPECT_EQ(core_shares(3, 2), (std::vector{share(0, 1, 0), share(1, 1, 1), share(2, 1, 0)}));
  EXPECT_EQ(core_shares(3, 1), (std::vector{share(0, 1, 0), share(1, 1, 0), share(2, 1, 0)}));
}

TEST(Lanes, ADeviceWithoutCoresHasStreamsOnly) {
  EXPECT_EQ(core_shares(2, 0), (std::vector{share(0, 1, 0), share(1, 1, 0)}));
}

TEST(Lanes, NoGroupNoLane) { EXPECT_TRUE(core_shares(0, 4).empty()); }

TEST(Lanes, EveryCoreIsUsedOnceWhileTheyLast) {
  for (int threads = 1; threads <= 9; ++threads) {
    for (std::size_t groups = 1; groups <= 9; ++groups) {
      SCOPED_TRACE(std::to_string(groups) + " groups, " + std::to_string(threads) + " threads");
      std::vector<int> users(static_cast<std::size_t>(threads));
      const std::vector<CoreShare> result = core_shares(groups, threads);
      ASSERT_EQ(result.size(), groups);
      for (std::size_t g = 0; g < groups; ++g) {
        EXPECT_EQ(result[g].stream, StreamIndex(g));
        ASSERT_GE(result[g].threads, 1);
        ASSERT_LE(result[g].first_core + result[g].threads, threads);
        for (int i = 0; i < result[g].threads; ++i) {
          ++users[static_cast<std::size_t>(result[g].first_core + i)];
        }
      }
      const auto [least, most] = std::ranges::minmax(users);
      EXPECT_GE(least, 1);
      EXPECT_LE(most - least, groups > static_cast<std::size_t>(threads) ? 1 : 0);
    }
  }
}

TEST(CoreShares, GroupsHaveTheseNumbersOfCores) {
  EXPECT_EQ(cores_of_groups(8, 1), std::set<int>{8});
  EXPECT_EQ(cores_of_groups(8, 2), (std::set{4, 8}));
  EXPECT_EQ(cores_of_groups(8, 3), (std::set{2, 3, 4, 8}));
  EXPECT_EQ(cores_of_groups(3, 100), (std::set{1, 2, 3}));
  EXPECT_EQ(cores_of_groups(1, 4), std::set<int>{1});
  EXPECT_EQ(cores_of_groups(0, 4), std::set<int>{1}) << "a GPU";
}

}  // namespace
}  // namespace hios
