// The cores of a host's ranks, next to their devices where these lie somewhere.
#include "engine/host/cores.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace hios {
namespace {

using Cores = std::vector<int>;
using CoresOfRanks = std::vector<Cores>;

const Cores kAllowed{0, 1, 2, 3, 8, 9, 10, 11};
const Cores kFirstNode{0, 1, 2, 3}, kSecondNode{8, 9, 10, 11};

TEST(AssignedCores, AreConsecutiveWhereAllAreAlike) {
  EXPECT_EQ(assign_cores(kAllowed, {{2}, {1}, {3}}, false), (CoresOfRanks{{0, 1}, {2}, {3, 8, 9}}));
}

TEST(AssignedCores, AreNearTheDevicesOfRanksThatHaveOne) {
  EXPECT_EQ(
      assign_cores(kAllowed, {{2}, {1, kSecondNode}, {1, kFirstNode}, {1, kSecondNode}}, false),
      (CoresOfRanks{{1, 2}, {8}, {0}, {9}}))
      << "the rank on cores takes what the others left";
}

TEST(AssignedCores, AreOthersWhereThoseNearADeviceDoNotSuffice) {
  EXPECT_EQ(assign_cores(kAllowed, {{3, kSecondNode}, {3, kSecondNode}}, false),
            (CoresOfRanks{{8, 9, 10}, {0, 1, 11}}));
  EXPECT_EQ(assign_cores({0, 1}, {{1, kSecondNode}, {1}}, false), (CoresOfRanks{{0}, {1}}));
}

TEST(AssignedCores, AreRefusedOrSharedWhereTheyAreTooFew) {
  test::expect_error(
      [] {
        assign_cores({0, 1}, {{2}, {1}}, false);
      },
      {"want 3 cores and are allowed 2"});
  EXPECT_EQ(assign_cores({0, 1}, {{2}, {1}}, true), (CoresOfRanks{{}, {}}));
}

TEST(CoresNearADevice, AreNotThoseOnWhichOthersCompute) {
  const std::vector<CoreWish> wishes{{6}, {1, kSecondNode}, {1, kSecondNode}};
  const CoresOfRanks assigned = assign_cores(kAllowed, wishes, false);
  EXPECT_EQ(assigned, (CoresOfRanks{{0, 1, 2, 3, 10, 11}, {8}, {9}}));
  EXPECT_EQ(cores_near_device(kAllowed, wishes, assigned, 0), Cores());
  EXPECT_EQ(cores_near_device(kAllowed, wishes, assigned, 1), (Cores{8, 9}));
  EXPECT_EQ(cores_near_device(kAllowed, wishes, CoresOfRanks(3), 2), kSecondNode) << "shared cores";
}

}  // namespace
}  // namespace hios
