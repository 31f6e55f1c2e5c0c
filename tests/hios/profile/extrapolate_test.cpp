#include "hios/profile/extrapolate.h"

#include <gtest/gtest.h>

#include "hios/evaluate/cost_model.h"
#include "support/expect_error.h"
#include "support/graphs/small_graph.h"
#include "support/networks/made_up_profile.h"

namespace hios {
namespace {

Configuration with_transfers(std::size_t ranks, std::vector<TransferCurve> transfers) {
  Configuration made;
  made.backend = made.kind = "cpu";
  made.threads = 2;
  made.ranks = ranks;
  made.operators["a"] = {1.5, 1.0, 30};
  made.stages[canonical({{"a"}, {"a"}})] = {2, 2, 9};
  made.transfers = std::move(transfers);
  return made;
}

Configuration of_two() {
  return with_transfers(2, {{0, 1, {{1000, 1}, {3000, 3}}}, {1, 0, {{1000, 3}, {3000, 5}}}});
}

Platform cpus(std::size_t devices) { return Platform::homogeneous(devices, "cpu", 2, 2); }

TEST(Extrapolate, OnlyWhereTheDevicesWereNotMeasured) {
  const Profile profile{{of_two()}};
  EXPECT_EQ(other_ranks(profile, cpus(4)), 2u);
  EXPECT_EQ(other_ranks(profile, cpus(1)), 2u);
  EXPECT_EQ(other_ranks(profile, cpus(2)), std::nullopt) << "measured";
  EXPECT_EQ(other_ranks(profile, Platform::homogeneous(4, "cpu", 1, 2)), std::nullopt)
      << "other threads";
  EXPECT_EQ(other_ranks(profile, Platform::homogeneous(4, "gpu", 0, 2)), std::nullopt);
  Profile among = profile;
  among.configurations.front().devices = {"cpu", "gpu"};
  EXPECT_EQ(other_ranks(among, cpus(4)), std::nullopt) << "measured together with a GPU";
}

TEST(Extrapolate, TakesTheNearestNumberOfRanks) {
  const TransferCurve curve{0, 1, {{1000, 1}}};
  const Profile profile{{with_transfers(1, {}), with_transfers(2, {curve}),
                         with_transfers(6, {curve}), with_transfers(16, {curve})}};
  EXPECT_EQ(other_ranks(profile, cpus(3)), 2u);
  EXPECT_EQ(other_ranks(profile, cpus(4)), 6u) << "the larger of two equally near";
  EXPECT_EQ(other_ranks(profile, cpus(12)), 16u);
  EXPECT_EQ(other_ranks(profile, cpus(64)), 16u);
  EXPECT_EQ(other_ranks({{with_transfers(1, {})}}, cpus(2)), std::nullopt) << "no transfers";
}

TEST(Extrapolate, EveryPairTakesTheMedianOfThoseMeasured) {
  const Profile profile = extrapolated({{of_two()}}, cpus(4), 2);
  ASSERT_EQ(profile.configurations.size(), 2u);
  EXPECT_EQ(profile.find(cpus(2), DeviceId(0))->transfers.size(), 2u) << "as measured";
  const Configuration& four = *profile.find(cpus(4), DeviceId(0));
  EXPECT_EQ(four.operators.at("a").ms, 1.5);
  EXPECT_EQ(four.stages, of_two().stages);
  ASSERT_EQ(four.transfers.size(), 12u);
  for (const TransferCurve& curve : four.transfers) {
    EXPECT_NE(curve.from, curve.to);
    EXPECT_DOUBLE_EQ(curve.transfer_ms(1000), 2);
    EXPECT_DOUBLE_EQ(curve.transfer_ms(2000), 3);
    EXPECT_DOUBLE_EQ(curve.transfer_ms(3000), 4);
  }
  const Profile three = extrapolated(
      {{with_transfers(3, {{0, 1, {{8, 1}}}, {1, 2, {{8, 2}}}, {2, 0, {{8, 90}}}})}}, cpus(2), 3);
  EXPECT_EQ(three.find(cpus(2), DeviceId(0))->transfers.front().transfer_ms(8), 2)
      << "one disturbed pair does not count";
}

TEST(Extrapolate, SharedMemoryStandsInWhereAllMeasuredRanksShareIt) {
  const auto shared_of = [](const std::vector<TransferCurve>& curves) {
    const Profile four = extrapolated({{with_transfers(2, curves)}}, cpus(4), 2);
    return four.find(cpus(4), DeviceId(0))->transfers.front().shared;
  };
  const TransferCurve there{0, 1, {{8, 1}}, {{8, 0.25}}}, back{1, 0, {{8, 1}}, {{8, 0.75}}};
  EXPECT_EQ(shared_of({there, back}), (CurvePoints{{8, 0.5}}));
  EXPECT_TRUE(shared_of({there, {1, 0, {{8, 1}}}}).empty());
}

TEST(Extrapolate, AStoreStaysAsFastAsItWasMeasured) {
  Configuration two = of_two();
  MeasuredLoads& disk = two.loads[StoreKind::kDisk];
  disk.gb_per_s = 1;
  disk.together_gb_per_s = 0.5;
  const Profile eight = extrapolated({{two}}, cpus(8), 2), one = extrapolated({{two}}, cpus(1), 2);
  const auto disk_of = [](const Profile& profile, std::size_t devices) {
    return profile.find(cpus(devices), DeviceId(0))->loads.at(StoreKind::kDisk);
  };
  EXPECT_DOUBLE_EQ(disk_of(eight, 8).together_gb_per_s, 0.125);
  EXPECT_EQ(disk_of(eight, 8).gb_per_s, 1);
  EXPECT_EQ(disk_of(one, 1).together_gb_per_s, 1) << "alone it is as fast as one rank";
}

TEST(Extrapolate, CostsAGraph) {
  Graph graph = test::small_graph({1, 2, 3}, {{1, 2, 1}, {1, 3, 1}});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.signature = "a";
  graph = Graph("g", operators, {{OpId(0), OpId(1), 2000, {}}, {OpId(0), OpId(2), 2000, {}}});
  const Platform platform = cpus(3);
  const Profile profile = extrapolated({{of_two()}}, platform, 2);
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  EXPECT_EQ(costs.operator_ms(OpId(0), DeviceId(2)), 1.5);
  EXPECT_EQ(costs.transfer_ms(EdgeId(0), DeviceId(2), DeviceId(1)), 3);
  EXPECT_EQ(costs.stage_ms(Stage{{{OpId(1)}, {OpId(2)}}}, DeviceId(2)), 2);
}

TEST(Extrapolate, NotForAsManyDevicesAsOneLikes) {
  test::expect_error([] { extrapolated({{of_two()}}, cpus(65), 2); }, {"2 ranks", "64", "65"});
}

}  // namespace
}  // namespace hios
