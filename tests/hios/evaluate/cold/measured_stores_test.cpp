#include "hios/evaluate/cold/measured_stores.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "support/expect_error.h"

namespace hios {
namespace {

/// Returns two operators with parameters, and one without.
Graph measured_graph() {
  std::vector<Operator> operators;
  for (const Bytes megabytes : {Bytes{4}, Bytes{1}, Bytes{0}}) {
    Operator& op = operators.emplace_back();
    op.name = "v" + std::to_string(operators.size());
    op.signature = "s" + std::to_string(operators.size());
    op.parameter_bytes = megabytes * 1'000'000;
  }
  return Graph("measured", std::move(operators), {{OpId(0), OpId(2), 1000, {}}});
}

/// Returns the profile of so many equal ranks.
Profile cold_start_profile(std::size_t ranks) {
  Configuration made;
  made.backend = made.kind = "cpu";
  made.ranks = ranks;
  for (const char* signature : {"s1", "s2", "s3"}) made.operators[signature] = {1, 1, 4};
  MeasuredLoads loads{.start_ms = 0.5,
                      .latency_ms = 0.25,
                      .gb_per_s = 4,
                      .together_gb_per_s = ranks > 1 ? 3.0 : 4.0,
                      .slowdown = 2,
                      .load_slowdown = 1.5,
                      .points = {{1'000'000, 0.5}},
                      .samples = 4};
  made.loads[StoreKind::kMemory] = loads;
  loads.gb_per_s = loads.together_gb_per_s = 1;
  loads.slowdown = loads.load_slowdown = 1.125;
  made.loads[StoreKind::kDisk] = loads;
  made.in_place["s1"] = {1.25, 4'000'000, 4};
  made.in_place["s2"] = {0.75, 1'000'000, 4};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from != to) made.transfers.push_back({from, to, {{1000, 0.011}, {1'000'000, 1.01}}});
    }
  }
  return {{made}};
}

TEST(MeasuredStore, OneRankHasOneRoute) {
  const Platform platform =
      with_measured_store(measured_graph(), Platform::homogeneous(1, "cpu", 1, 1),
                          cold_start_profile(1), StoreKind::kMemory);
  const Topology& topology = *platform.topology();
  ASSERT_EQ(topology.stores().size(), 1u);
  EXPECT_EQ(topology.stores()[0], (Store{"memory", "", StoreKind::kMemory}));
  ASSERT_EQ(topology.routes().size(), 1u);
  const Route& route = topology.routes()[0];
  EXPECT_EQ(route.latency_ms, 0.25);
  EXPECT_EQ(route.start_ms, 0.5);
  EXPECT_EQ(route.slowdown, 2);
  EXPECT_EQ(route.load_slowdown, 1.5);
  EXPECT_EQ(topology.alone_gb_per_s(RouteId(0)), 4);
}

TEST(MeasuredStore, TensorsInSharedMemoryTakeTheReadersTime) {
  Profile profile = cold_start_profile(2);
  std::vector<TransferCurve>& curves = profile.configurations[0].transfers;
  const auto planned = [&] {
    return with_measured_store(measured_graph(), Platform::homogeneous(2, "cpu", 1, 1), profile,
                               StoreKind::kMemory);
  };
  EXPECT_FALSE(planned().device(DeviceId(1)).io_charge.has_value());
  curves[0].shared = {{1000, 0.001}, {1'000'000, 0.101}};
  const Platform platform = planned();
  const Topology& topology = *platform.topology();
  const Route& route = topology.route(topology.find(DeviceId(0), DeviceId(1)).value());
  EXPECT_NEAR(route.latency_ms + 1 / route.gb_per_s, 0.101, 1e-3);
  EXPECT_EQ(platform.device(DeviceId(1)).io_charge, (IoCharge{0, 1}));
  EXPECT_FALSE(platform.device(DeviceId(0)).io_charge.has_value()) << "the other way copies";
}

// One rank alone loads as fast as it was measured alone, and two together as both were together.
TEST(MeasuredStore, RanksShareABus) {
  const Platform platform =
      with_measured_store(measured_graph(), Platform::homogeneous(2, "cpu", 1, 1),
                          cold_start_profile(2), StoreKind::kMemory);
  const Topology& topology = *platform.topology();
  ASSERT_EQ(topology.routes().size(), 4u) << "two loads, and a message each way";
  EXPECT_EQ(topology.alone_gb_per_s(topology.find(StoreId(0), DeviceId(1)).value()), 4);
  EXPECT_EQ(topology.bus(BusId(0)).gb_per_s, 6);
  EXPECT_DOUBLE_EQ(topology.route(RouteId(0)).load_slowdown, 2)
      << "3 GB/s together, 1.5 times as long while they compute: 2 GB/s of 4";
  const auto message = topology.find(DeviceId(0), DeviceId(1));
  ASSERT_TRUE(message);
  EXPECT_NEAR(topology.alone_ms(*message, 1'000'000), 1.01, 1e-6);
  EXPECT_NEAR(topology.route(*message).latency_ms, 0.01, 1e-6);
}

// Whatever store they come from, parameters of another rank are copied by the receiver's cores.
TEST(MeasuredStore, ParametersOfOtherRanksSlowAsLoadsFromMemoryDo) {
  for (const StoreKind kind : {StoreKind::kMemory, StoreKind::kDisk}) {
    Profile profile = cold_start_profile(2);
    const Platform ranks = Platform::homogeneous(2, "cpu", 1, 1);
    const Platform platform = with_measured_store(measured_graph(), ranks, profile, kind);
    const Topology& topology = *platform.topology();
    const Route& route = topology.route(topology.find(DeviceId(0), DeviceId(1)).value());
    EXPECT_EQ(route.slowdown, 2);
    EXPECT_EQ(route.load_slowdown, 1.5);
  }
  Profile older = cold_start_profile(2);
  older.configurations.front().loads.erase(StoreKind::kMemory);
  const Platform ranks = Platform::homogeneous(2, "cpu", 1, 1);
  const Platform platform = with_measured_store(measured_graph(), ranks, older, StoreKind::kDisk);
  const Topology& topology = *platform.topology();
  EXPECT_EQ(topology.route(topology.find(DeviceId(0), DeviceId(1)).value()).slowdown, 1.125);
}

TEST(MeasuredStore, ADiskIsAStoreOfItsOwnKind) {
  const Platform platform =
      with_measured_store(measured_graph(), Platform::homogeneous(1, "cpu", 1, 1),
                          cold_start_profile(1), StoreKind::kDisk);
  EXPECT_EQ(platform.topology()->stores()[0].kind, StoreKind::kDisk);
  EXPECT_EQ(platform.topology()->alone_gb_per_s(RouteId(0)), 1);
}

// A read over a route that was measured with copies still takes the time that it was measured to.
TEST(MeasuredStore, ReadsInPlaceTakeTheirTime) {
  const Graph plain = measured_graph();
  const Profile profile = cold_start_profile(1);
  const Platform platform = with_measured_store(plain, Platform::homogeneous(1, "cpu", 1, 1),
                                                profile, StoreKind::kMemory);
  const Graph graph = with_measured_in_place(plain, platform, profile);
  EXPECT_EQ(graph.digest(), plain.digest());
  const Operator& fast = graph.op(OpId(0));
  EXPECT_EQ(fast.in_place_by_device.at("cpu0"), 1.25);
  EXPECT_LE(platform.topology()->alone_ms(RouteId(0), *fast.in_place_bytes), 1.25);
  EXPECT_NEAR(static_cast<double>(*fast.in_place_bytes), 4e6, 1);
  const Operator& small = graph.op(OpId(1));
  EXPECT_EQ(*small.in_place_bytes, 1'000'000u);
  EXPECT_TRUE(graph.op(OpId(2)).in_place_by_device.empty());
}

TEST(MeasuredStore, NoReadInPlaceIsWithinTheLatency) {
  const Graph plain = measured_graph();
  Profile profile = cold_start_profile(1);
  profile.configurations.front().operators["s1"].ms = 0.1;
  profile.configurations.front().in_place["s1"].ms = 0.2;
  const Platform platform = with_measured_store(plain, Platform::homogeneous(1, "cpu", 1, 1),
                                                profile, StoreKind::kMemory);
  const Graph graph = with_measured_in_place(plain, platform, profile);
  const Operator& small = graph.op(OpId(0));
  EXPECT_TRUE(small.in_place_by_device.empty());
  EXPECT_FALSE(small.in_place_bytes);
}

TEST(MeasuredStore, SaysWhatWasNotMeasured) {
  Profile profile = cold_start_profile(2);
  profile.configurations.front().loads.erase(StoreKind::kDisk);
  const Graph graph = measured_graph();
  const Platform ranks = Platform::homogeneous(2, "cpu", 1, 1);
  const auto refused = [&](StoreKind kind, const std::string& text) {
    test::expect_error<InputError>([&] { with_measured_store(graph, ranks, profile, kind); },
                                   {"FILE: cpu0: " + text});
  };
  refused(StoreKind::kDisk, "no loads from a disk were measured");
  profile.configurations.front().transfers.clear();
  refused(StoreKind::kMemory, "no transfers");
  EXPECT_NE(loads_text(profile.configurations.front()).find("memory"), std::string::npos);
}

}  // namespace
}  // namespace hios
