#include "hios/evaluate/cost_model.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::d2;
using test::expect_error;
using test::expect_need;
using test::stage;
using test::v1;
using test::v2;

const EdgeId e0(0), e1(1);

Device device(std::string name, std::string kind, int threads = 0, int streams = 8) {
  return {std::move(name), std::move(kind), threads, streams, 0, ""};
}

Operator priced(std::string name, double time_ms) {
  Operator op;
  op.name = std::move(name);
  op.time_ms = time_ms;
  op.has_time = true;
  return op;
}

Edge edge(std::size_t from, std::size_t to, Bytes bytes) {
  Edge result;
  result.from = OpId(from);
  result.to = OpId(to);
  result.size_bytes = bytes;
  return result;
}

TEST(CostModelFromGraph, TimesByNameThenKindThenAny) {
  Operator op = priced("a", 1);
  op.time_by_device = {{"gpu0", 2}, {"cpu", 3}};
  const Graph graph("g", {op}, {});
  const Platform platform({device("gpu0", "gpu"), device("cpu0", "cpu"), device("npu0", "npu")});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(costs.operator_ms(v1, d0), 2);
  EXPECT_EQ(costs.operator_ms(v1, d1), 3);
  EXPECT_EQ(costs.operator_ms(v1, d2), 1);
  EXPECT_EQ(costs.mean_operator_ms(v1), 2);
}

TEST(CostModelFromGraph, DevicesThatCannotOrMayNot) {
  Operator named;
  named.name = "named";
  named.time_by_device = {{"cpu", 3}};
  Operator allowed = priced("allowed", 4);
  allowed.allowed = {"gpu0"};
  const Graph graph("g", {named, allowed}, {});
  const Platform platform({device("gpu0", "gpu"), device("cpu0", "cpu")});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(costs.operator_ms(v1, d0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(costs.can_run(v1, d1));
  EXPECT_TRUE(costs.can_run(v2, d0));
  EXPECT_FALSE(costs.can_run(v2, d1));
  EXPECT_EQ(costs.mean_operator_ms(v1), 3);
  EXPECT_EQ(costs.mean_operator_ms(v2), 4);
  const Platform gpus({device("gpu0", "gpu"), device("gpu1", "gpu")});
  expect_error([&] { CostModel::from_graph(graph, gpus); }, {"named", "no device"});
}

TEST(CostModelFromGraph, RefusesOperatorsWithoutTime) {
  Operator op;
  op.name = "bare";
  const Graph graph("g", {op}, {});
  const Platform platform = test::devices(1, 1);
  expect_error([&] { CostModel::from_graph(graph, platform); }, {"bare", "time_ms", "profile"});
}

TEST(CostModelFromGraph, TransferByEdgeThenLinkThenDefaultLink) {
  Edge own = edge(0, 1, 1'000'000);
  own.transfer_ms = 7;
  const Graph graph("g", {priced("a", 1), priced("b", 1), priced("c", 1)},
                    {own, edge(0, 2, 2'000'000)});
  const std::vector<Device> three{device("x", "gpu"), device("y", "gpu"), device("z", "gpu")};
  const Platform platform(three, {{d0, d1, Link{1, 1}}}, Link{10, 2});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(costs.transfer_ms(e0, d0, d1), 7);
  EXPECT_EQ(costs.transfer_ms(e0, d1, d2), 7);
  EXPECT_EQ(costs.transfer_ms(e0, d1, d1), 0);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e1, d0, d1), 1 + 2);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e1, d0, d2), 10 + 1);
  EXPECT_EQ(costs.transfer_ms(e1, d2, d2), 0);
  EXPECT_EQ(costs.mean_transfer_ms(e0), 7);
  // Both directions of the pair with a link cost 3, the other four 11.
  EXPECT_DOUBLE_EQ(costs.mean_transfer_ms(e1), (2 * 3 + 4 * 11) / 6.0);
}

TEST(CostModelFromGraph, TransfersByPairThenLink) {
  Edge own = edge(0, 1, 1'000'000);
  own.transfer_by_pair = std::make_shared<const PairTimes>(
      PairTimes{{"x", {{"gpu", 5}, {"z", 6}}}, {"gpu", {{"gpu", 7}, {"cpu", 8}}}});
  const Graph graph("g", {priced("a", 1), priced("b", 1)}, {own, edge(0, 1, 1'000'000)});
  const Platform platform({device("x", "gpu"), device("y", "gpu"), device("z", "cpu")}, {},
                          Link{10, 1});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(costs.transfer_ms(e0, d0, d1), 5) << "a sender's name comes before its kind";
  EXPECT_EQ(costs.transfer_ms(e0, d0, d2), 6);
  EXPECT_EQ(costs.transfer_ms(e0, d1, d0), 7);
  EXPECT_EQ(costs.transfer_ms(e0, d1, d2), 8);
  EXPECT_EQ(costs.transfer_ms(e0, d2, d0), 11) << "by its bytes";
  EXPECT_EQ(costs.transfer_ms(e0, d2, d2), 0);
  EXPECT_EQ(costs.transfer_ms(e0), std::nullopt);
  EXPECT_DOUBLE_EQ(costs.mean_transfer_ms(e0), (5 + 6 + 7 + 8 + 11 + 11) / 6.0);
  EXPECT_EQ(costs.transfer_ms(e1, d0, d1), 11) << "as many bytes, and no times of its own";

  own.size_bytes = 0;
  const Graph unsized("g", {priced("a", 1), priced("b", 1)}, {own});
  expect_error([&] { CostModel::from_graph(unsized, platform); },
               {"no transfer time from z to x", "a -> b", "does not name the pair"});
}

TEST(CostModelFromGraph, WithoutAWayThereIsNoTime) {
  const Graph graph("g", {priced("a", 1), priced("b", 1)}, {edge(0, 1, 1'000'000)});
  const std::vector<Device> three{device("x", "gpu"), device("y", "gpu"), device("z", "gpu")};
  const Traffic widest{.routing = Routing::kWidest};
  const Platform line(three, {{d0, d1, Link{1, 1}}, {d1, d2, Link{1, 2}}}, {}, widest);
  EXPECT_EQ(CostModel::from_graph(graph, line).transfer_ms(e0, d2, d0), 2 + 1);
  const Platform cut(three, {{d0, d1, Link{1, 1}}}, {}, widest);
  expect_error([&] { CostModel::from_graph(graph, cut); },
               {"no route from x to z", "a -> b", "no path of the platform's links leads there"});
}

TEST(CostModelFromGraph, TransfersMatterOnlyBetweenDevices) {
  const Graph graph("g", {priced("a", 1), priced("b", 1)}, {edge(0, 1, 100)});
  const Platform two = test::devices(2, 1);
  expect_error([&] { CostModel::from_graph(graph, two); },
               {"a -> b", "gpu0", "gpu1", "transfer_ms", "default_link"});
  const Platform one = test::devices(1, 1);
  const CostModel costs = CostModel::from_graph(graph, one);
  EXPECT_EQ(costs.transfer_ms(e0, d0, d0), 0);
  EXPECT_EQ(costs.mean_transfer_ms(e0), 0);
}

TEST(CostModelFromGraph, StageCostRules) {
  const auto costs_of = [](const Graph& graph, const Platform& platform, const Stage& s) {
    const StageCost cost = CostModel::from_graph(graph, platform).stage(s, d0);
    EXPECT_TRUE(cost.measured);
    return cost.ms;
  };
  const Platform platform = test::devices(1, 8);
  const Graph serial = test::small_graph({1, 2, 4}, {});
  EXPECT_EQ(costs_of(serial, platform, stage({{1, 2}, {3}})), 7);
  const StageCostRule rule{StageCostRule::Kind::kOverlap, 0.25};
  const Graph overlap = test::small_graph({1, 2, 4}, {}, rule);  // utilization 0.5
  EXPECT_DOUBLE_EQ(costs_of(overlap, platform, stage({{1, 2}, {3}})), 0.25 * 7 + 0.75 * 4);
  EXPECT_DOUBLE_EQ(costs_of(overlap, platform, stage({{1}, {2}})), 0.25 * 3 + 0.75 * 2);
  EXPECT_DOUBLE_EQ(costs_of(overlap, platform, stage({{1, 2, 3}})), 7) << "one group: its sum";
  const Graph equal = test::small_graph({1, 1, 1}, {}, rule);
  EXPECT_DOUBLE_EQ(costs_of(equal, platform, stage({{1}, {2}, {3}})), 0.25 * 3 + 0.75 * 1.5);
}

/// Operators a, b, c, a with times 1, 2, 4, 1; {a}{b} and {a, b}{c} are measured.
struct Profiled {
  explicit Profiled(std::size_t ranks, int threads = 0) {
    std::vector<Operator> operators;
    for (std::string_view name : {"a", "b", "c", "a"}) {
      Operator op;
      op.signature = name;
      op.name = std::string(name).append(std::to_string(operators.size()));
      operators.push_back(op);
    }
    graph = Graph("net", operators, {edge(0, 1, 1000), edge(1, 2, 3000)});
    Configuration configuration;
    configuration.kind = "gpu";
    configuration.threads = threads;
    configuration.ranks = ranks;
    configuration.operators["a"].ms = 1;
    configuration.operators["b"].ms = 2;
    configuration.operators["c"].ms = 4;
    configuration.stages[canonical({{"b"}, {"a"}})].ms = 2.5;
    configuration.stages[canonical({{"a", "b"}, {"c"}})].ms = 5;
    configuration.stages[{{"a", "b"}}].ms = 1;    // a stage of one group is never looked up
    configuration.stages[{{"x"}, {"y"}}].ms = 1;  // another network's
    for (std::size_t from = 0; from < ranks; ++from) {
      for (std::size_t to = 0; to < ranks; ++to) {
        const double base = 1 + static_cast<double>(from);
        if (from != to) {
          configuration.transfers.push_back({from, to, {{1000, base}, {2000, base + 1}}});
        }
      }
    }
    profile.configurations.push_back(configuration);
  }

  Graph graph;
  Profile profile;
};

TEST(CostModelFromProfile, OperatorsBySignatureAndTransfersByPair) {
  const Profiled given(2);
  const Platform platform = test::devices(2, 8);
  const CostModel costs = CostModel::from_profile(given.graph, platform, given.profile);
  EXPECT_EQ(costs.operator_ms(v2, d1), 2);
  EXPECT_EQ(costs.operator_ms(OpId(3), d0), 1);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d0, d1), 1);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d1, d0), 2);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e1, d0, d1), 3);
  EXPECT_DOUBLE_EQ(costs.mean_transfer_ms(e0), 1.5);
  EXPECT_EQ(costs.configuration(d0), &given.profile.configurations.front());
}

TEST(CostModelFromProfile, ReceivingTakesTimeByThePlatformOrByTheProfile) {
  Profiled given(2);
  const Platform plain = test::devices(2, 8);
  EXPECT_FALSE(CostModel::from_profile(given.graph, plain, given.profile).charges_receivers());
  Configuration& measured = given.profile.configurations.front();
  measured.io_charge = MeasuredCharge{{0.5, 0.25}, 30};
  measured.launch = {0.5, 0, 1};
  const CostModel costs = CostModel::from_profile(given.graph, plain, given.profile);
  EXPECT_TRUE(costs.charges_receivers());
  EXPECT_DOUBLE_EQ(costs.receive_ms(e0, d0, d1), 0.25 * 1) << "no share of the launch";
  EXPECT_DOUBLE_EQ(costs.receive_ms(e1, d1, d0), 0.25 * 4);
  std::vector<Device> list(plain.devices().begin(), plain.devices().end());
  list[1].io_charge = IoCharge{1, 2};
  const Platform platform = plain.with_devices(list);
  const CostModel own = CostModel::from_profile(given.graph, platform, given.profile);
  EXPECT_DOUBLE_EQ(own.receive_ms(e0, d0, d1), 2 * 1);
  EXPECT_DOUBLE_EQ(own.receive_ms(e0, d1, d0), 0.25 * 2) << "the platform says nothing of it";
  const Platform ports = test::devices(2, 8, Contention::kPort);
  EXPECT_FALSE(CostModel::from_profile(given.graph, ports, given.profile).charges_receivers());
}

TEST(CostModelFromProfile, TensorsInSharedMemoryTakeTheReadersTime) {
  Profiled given(2);
  Configuration& measured = given.profile.configurations.front();
  measured.io_charge = MeasuredCharge{{0.5, 0.25}, 30};
  measured.transfers[0].shared = {{1, 0.125}};
  const Platform plain = test::devices(2, 8);
  const CostModel costs = CostModel::from_profile(given.graph, plain, given.profile);
  EXPECT_EQ(costs.travel(), Travel::kShared);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d0, d1), 0.125);
  EXPECT_DOUBLE_EQ(costs.receive_ms(e0, d0, d1), 0.125) << "it computes nothing meanwhile";
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d1, d0), 2) << "the other way shares nothing";
  EXPECT_DOUBLE_EQ(costs.receive_ms(e0, d1, d0), 0.25 * 2);
  const CostModel copied =
      CostModel::from_profile(given.graph, plain, given.profile, Travel::kCopied);
  EXPECT_DOUBLE_EQ(copied.transfer_ms(e0, d0, d1), 1);
  EXPECT_DOUBLE_EQ(copied.receive_ms(e0, d0, d1), 0.25 * 1);
  measured.io_charge.reset();
  EXPECT_TRUE(CostModel::from_profile(given.graph, plain, given.profile).charges_receivers());
  std::vector<Device> list(plain.devices().begin(), plain.devices().end());
  list[1].io_charge = IoCharge{1, 2};
  const Platform platform = plain.with_devices(list);
  const CostModel own = CostModel::from_profile(given.graph, platform, given.profile);
  EXPECT_DOUBLE_EQ(own.receive_ms(e0, d0, d1), 2 * 0.125) << "as the platform says";
}

TEST(CostModelFromProfile, StagesAsMeasuredInAnyOrderOfGroups) {
  const Profiled given(1);
  const Platform platform = test::devices(1, 8);
  const CostModel costs = CostModel::from_profile(given.graph, platform, given.profile);
  const auto expect = [&](const Stage& s, double ms, bool measured) {
    EXPECT_DOUBLE_EQ(costs.stage(s, d0).ms, ms);
    EXPECT_EQ(costs.stage(s, d0).measured, measured);
  };
  expect(stage({{1}, {2}}), 2.5, true);
  expect(stage({{2}, {1}}), 2.5, true);
  expect(stage({{2}, {4}}), 2.5, true);  // the other `a`
  expect(stage({{3}, {1, 2}}), 5, true);
  expect(stage({{3}, {2, 1}}), 7, false);  // the order in a group matters
  expect(stage({{1}, {3}}), 5, false);
  expect(stage({{1, 2}}), 3, true);  // one group: its sum
  expect(stage({{3}}), 4, true);
}

TEST(CostModelFromProfile, TransfersAmongDevicesOfAKindAreNotThoseToAnotherKind) {
  Profiled given(2);
  Configuration other = given.profile.configurations.front();
  other.kind = "npu";
  other.transfers.clear();
  given.profile.configurations.push_back(other);
  const Platform platform({device("gpu0", "gpu"), device("npu0", "npu")}, {}, Link{7, 1});
  const CostModel costs = CostModel::from_profile(given.graph, platform, given.profile);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d0, d1), 7.001) << "by the platform's link";
}

TEST(CostModelFromProfile, GroupsBeyondTheStreamsOrCoresQueue) {
  const Profiled given(1, 2);  // two cores
  const Platform platform({device("gpu0", "gpu", 2, 8)});
  const CostModel costs = CostModel::from_profile(given.graph, platform, given.profile);
  const StageCost queued = costs.stage(stage({{1}, {2}, {3}, {4}}), d0);
  EXPECT_DOUBLE_EQ(queued.ms, 2.5 + (4 + 1)) << "{a}{b} as measured, then {c}{a} serially";
  EXPECT_FALSE(queued.measured);
  EXPECT_DOUBLE_EQ(costs.stage_ms(stage({{1}, {3}, {2}}), d0), 1 + 4 + 2);
}

TEST(CostModelFromProfile, MarksStagesThatWereNotMeasured) {
  const Profiled given(1);
  const Platform platform = test::devices(1, 8);
  CostModel costs = CostModel::from_profile(given.graph, platform, given.profile);
  std::vector<Stage> asked;
  costs.on_unmeasured([&](const Stage& s, DeviceId) { asked.push_back(s); });
  costs.stage(stage({{1}, {2}}), d0);
  costs.stage(stage({{1, 3}}), d0);
  EXPECT_TRUE(asked.empty());
  costs.stage(stage({{1}, {3}}), d0);
  EXPECT_EQ(asked, std::vector<Stage>{stage({{1}, {3}})});
}

TEST(CostModelFromProfile, NamesWhatIsMissingAndNeedsItsMeasurement) {
  const Profiled given(2);
  const Platform three = test::devices(3, 8);
  expect_error([&] { CostModel::from_profile(given.graph, three, given.profile); },
               {"gpu0", "3 ranks", "2 ranks"});
  const auto measurement = [&](const Platform& platform, std::size_t device) {
    need::Measurement need{"net", given.profile.file, {}, device, true};
    need.devices.assign(platform.size(), {"gpu", 0, "fp32"});
    return need;
  };
  expect_need([&] { CostModel::from_profile(given.graph, three, given.profile); },
              measurement(three, 0));

  Device core = device("cpu0", "cpu", 1);
  core.precision = Precision::kFp16;
  const Platform cores({core});
  expect_error([&] { CostModel::from_profile(given.graph, cores, given.profile); },
               {"cpu0", "fp16"});

  Profiled fewer(2);
  fewer.profile.configurations.front().operators.erase("b");
  fewer.profile.configurations.front().operators.erase("c");
  const Platform two = test::devices(2, 8);
  expect_error([&] { CostModel::from_profile(fewer.graph, two, fewer.profile); },
               {"2 operator signatures", "b, c"});
  expect_need([&] { CostModel::from_profile(fewer.graph, two, fewer.profile); },
              measurement(two, 0));

  Profiled apart(2);
  apart.profile.configurations.front().transfers.pop_back();
  expect_error([&] { CostModel::from_profile(apart.graph, two, apart.profile); },
               {"gpu1 to gpu0", "a0 -> b1"});
  expect_need([&] { CostModel::from_profile(apart.graph, two, apart.profile); },
              measurement(two, 1));
  const Platform linked({device("gpu0", "gpu"), device("gpu1", "gpu")}, {}, Link{6, 1});
  const CostModel costs = CostModel::from_profile(apart.graph, linked, apart.profile);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d1, d0), 6 + 1000 / 1e6);
  EXPECT_DOUBLE_EQ(costs.transfer_ms(e0, d0, d1), 1) << "the profile before the link";
}

TEST(CostModelFromProfile, NamesTheThreads) {
  const Profiled given(1, 2);
  const Platform platform({device("gpu0", "gpu", 1)});
  expect_error([&] { CostModel::from_profile(given.graph, platform, given.profile); },
               {"1 threads", "2 threads"});
}

TEST(CostModelFromProfile, TimesInOneArithmeticAreNotThoseInAnother) {
  Profiled given(1);
  const auto tf32 = [](const char* name) {
    Device gpu = device(name, "gpu");
    gpu.precision = Precision::kTf32;
    return Platform({gpu});
  };
  expect_error([&] { CostModel::from_profile(given.graph, tf32("gpu0"), given.profile); },
               {"gpu0", "1 ranks, tf32"});
  Configuration faster = given.profile.configurations.front();
  faster.precision = Precision::kTf32;
  faster.operators["a"].ms = 0.5;
  given.profile.configurations.push_back(faster);
  const Platform platform = tf32("gpu0");
  EXPECT_EQ(CostModel::from_profile(given.graph, platform, given.profile).operator_ms(v1, d0), 0.5);
  const Platform plain({device("gpu0", "gpu")});
  EXPECT_EQ(CostModel::from_profile(given.graph, plain, given.profile).operator_ms(v1, d0), 1);
}

TEST(CostModelFromProfile, AResearchGraphHasNoSignatures) {
  const Profiled given(1);
  const Graph graph = test::small_graph({1}, {});
  const Platform platform = test::devices(1, 1);
  expect_error([&] { CostModel::from_profile(graph, platform, given.profile); },
               {"v1", "no signature"});
}

TEST(StageKeyOf, IsCanonical) {
  const Profiled given(1);
  EXPECT_EQ(stage_key(given.graph, stage({{3}, {1, 2}})), (StageKey{{"a", "b"}, {"c"}}));
}

}  // namespace
}  // namespace hios
