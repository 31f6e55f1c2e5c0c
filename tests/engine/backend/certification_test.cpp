// Shards whose bits are compared with those of their whole operators, and the algorithms that are
// chosen where they differ.
#include "engine/backend/certification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/backends.h"
#include "engine/job/ranks/algorithm_agreement.h"
#include "mpi/session/heartbeat_transport.h"
#include "support/expect_error.h"
#include "support/fakes/methodical_backend.h"
#include "support/networks/random_cuts.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::cut_network;
using test::MethodicalBackend;

/// Two equal convolutions and a pool.
Model two_convolutions() {
  ModelBuilder net("net", {1, 16, 12, 9});
  const TensorId first = net.conv("first", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId second = net.conv("second", first, {16, {3, 3}, {1, 1}, {1, 1}});
  net.pool("pool", second, {Pool::Kind::kMax, {2, 2}, {2, 2}, {0, 0}});
  net.keep_layer_names();
  return std::move(net).build();
}

job::AgreedAlgorithms timed(Backend& backend, const Network& network) {
  job::AgreedAlgorithms agreed;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    agreed = job::agree_on_algorithms(transport, backend, network.coarse, network.model, {},
                                      Choosing::kByTiming);
  });
  return agreed;
}

TEST(Certification, KnowsTheWholeOfEachShard) {
  const Network network =
      cut_network(two_convolutions(), {{"second", {4, 9}, 1}, {"first", {5}, 0, Axis::kC}});
  const std::vector<CutOperator> cut = cut_operators(network.coarse, network.model);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].name, "first");
  EXPECT_EQ(cut[1].name, "second");
  ASSERT_EQ(cut[1].shards.size(), 3u);
  EXPECT_EQ(cut[1].shards[1].range, (AxisRange{Axis::kH, 3, 10}));
  EXPECT_EQ(cut[1].shards[1].inputs, (std::vector{AxisRange{Axis::kH, 2, 11}}));
  EXPECT_EQ(cut[0].shards[0].inputs, (std::vector{AxisRange{Axis::kC, 0, 16}}));
  EXPECT_TRUE(cut_operators(Network(two_convolutions()).coarse, two_convolutions()).empty());
}

TEST(Certification, EqualOperatorsAreComputedOnce) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}, {"second", {4}}});
  MethodicalBackend backend;
  EXPECT_EQ(uncertified(backend, network.coarse, network.model), std::vector<std::string>{});
  EXPECT_EQ(backend.bound, 3u * 2) << "each with two sets of parameters";
}

TEST(Certification, ComparesValuesOfEitherSignAndOfVeryDifferentSizes) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}, {"pool", {2}}});
  const auto differ_where = [&](auto condition) {
    MethodicalBackend backend;
    backend.differs = [condition](std::span<const float> input, int) {
      return std::ranges::any_of(input, condition);
    };
    return uncertified(backend, network.coarse, network.model);
  };
  const std::vector<std::string> all{"first", "pool"};
  EXPECT_EQ(differ_where([](float x) { return x < 0; }), all);
  EXPECT_EQ(differ_where([](float x) { return std::abs(x) > 500; }), all);
  EXPECT_EQ(differ_where([](float x) { return x != 0 && std::abs(x) < 1e-4f; }), all);
  EXPECT_EQ(differ_where([](float x) { return x == 0 && std::signbit(x); }), all);
  EXPECT_EQ(differ_where([](float x) { return std::abs(x) > 1e4f; }), std::vector<std::string>{});
}

TEST(Certification, ComparesShardsOnTheCoresThatStagesGiveThem) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}});
  for (const auto& [threads, streams] : std::map<int, int>{{4, 1}, {2, 2}, {1, 3}}) {
    MethodicalBackend backend;
    backend.cores = 4;
    backend.differs = [least = threads](auto, int cores) { return cores <= least; };
    // The whole has all four cores.
    EXPECT_EQ(uncertified(backend, network.coarse, network.model, streams).empty(), false);
    backend.differs = [least = threads](auto, int cores) { return cores < least; };
    EXPECT_EQ(uncertified(backend, network.coarse, network.model, streams),
              std::vector<std::string>{})
        << streams << " streams";
  }
}

TEST(Certification, TakesAnotherAlgorithmWhereTheFastestHasOtherBits) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}});
  MethodicalBackend backend;
  const job::AgreedAlgorithms agreed = timed(backend, network);
  EXPECT_EQ(agreed.uncertified, std::vector<std::string>{});
  EXPECT_NO_THROW(require_certified(agreed, backend, network.cuts));
  for (const Operator& op : network.coarse.graph.operators()) {
    // The second convolution is the first one's equal, and computes like it.
    EXPECT_EQ((*agreed.algorithms).at(op.signature), op.name == "pool" ? "fast" : "plain");
  }
  EXPECT_EQ(uncertified(backend, network.coarse, network.model), std::vector<std::string>{});
}

TEST(Certification, TakesBlocksOfRowsWhereNoAlgorithmOfWholeImagesHelps) {
  for (const auto& [at, rows] : std::map<std::vector<std::int64_t>, std::vector<std::int64_t>>{
           {{6}, {6}}, {{4, 8}, {4}}, {{6, 9}, {3}}, {{5, 9}, {}}, {{2}, {}}}) {
    const Network network = cut_network(two_convolutions(), {{"first", at}});
    MethodicalBackend backend = MethodicalBackend::exact_in_blocks();
    const job::AgreedAlgorithms agreed = timed(backend, network);
    EXPECT_EQ(backend.blocks, rows);
    EXPECT_EQ(agreed.uncertified.empty(), !rows.empty());
  }
  const Network network = cut_network(two_convolutions(), {{"first", {8}, 0, Axis::kC}});
  MethodicalBackend backend = MethodicalBackend::exact_in_blocks();
  (void)timed(backend, network);
  EXPECT_EQ(backend.blocks, std::vector<std::int64_t>{});
}

TEST(Certification, AnOperatorWithOtherBitsByAllAlgorithmsIsNotCut) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}, {"pool", {2}}});
  MethodicalBackend backend("pool");
  const job::AgreedAlgorithms agreed = timed(backend, network);
  EXPECT_EQ(agreed.uncertified, std::vector<std::string>{"pool"});
  test::expect_error<InputError>(
      [&] {
        require_certified(agreed, backend,
                          {{.op = "pool", .at = {2}, .where = "c.json: $.cuts[1]"}});
      },
      {"c.json: $.cuts[1]: operator \"pool\" cannot be cut here: its shards would give other bits "
       "on backend "
       "methodical (methods 2.1); leave it out of the cuts"});
}

/// Two convolutions of 16 and 12 rows, whose first shards are alike where both are cut at row 4.
Model tall_and_short() {
  ModelBuilder net("net", {1, 16, 16, 9});
  const TensorId tall = net.conv("tall", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId between = net.pool("between", tall, {Pool::Kind::kMax, {5, 1}, {1, 1}, {0, 0}});
  net.conv("short", between, {16, {3, 3}, {1, 1}, {1, 1}});
  net.keep_layer_names();
  return std::move(net).build();
}

/// The operators of a large network take longer to certify than a watchdog's time-out.
TEST(Certification, RanksHearOfEachOtherAfterEachOperatorThatIsCertified) {
  const auto calls = [](const Cuts& cuts, const std::string& never) {
    const Network network = cut_network(two_convolutions(), cuts);
    std::vector<std::uint64_t> by_rank(2);
    test::run_ranks(2, [&](mpi::Transport& transport) {
      mpi::HeartbeatTransport counted(transport);
      MethodicalBackend backend(never);
      job::agree_on_algorithms(counted, backend, network.coarse, network.model, {},
                               Choosing::kByTiming);
      by_rank[transport.rank().index()] =
          counted.heartbeats() - 2 * network.coarse.graph.size();  // of the choice itself
    });
    return by_rank;
  };
  const auto one = calls({{"first", {4}}}, "nothing"),
             two = calls({{"first", {4}}, {"pool", {2}}}, "nothing");
  const auto again = calls({{"first", {4}}, {"pool", {2}}}, "first");  // in further passes
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_GE(two[rank], one[rank] + 4);
    EXPECT_GE(again[rank], two[rank] + 8);
  }
}

TEST(Certification, ShardsThatAreAlikeComputeAsTheirWholesDo) {
  const Network whole(tall_and_short());
  const Network network = cut_network(tall_and_short(), {{"tall", {4}}, {"short", {4}}});
  const auto signature = [](const Network& of, const char* name) {
    return of.coarse.graph.op(of.coarse.graph.find(name).value()).signature;
  };
  const std::string tall = signature(network, "tall [0, 4)");
  const std::string other = signature(network, "short [0, 4)");
  EXPECT_NE(tall, other);
  EXPECT_EQ(tall.substr(0, tall.rfind(" of ")), other.substr(0, other.rfind(" of ")));
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    BackendOptions options;
    options.algorithms =
        Json{{signature(whole, "tall"), "winograd 4"}, {signature(whole, "short"), "direct"}};
    const auto backend = entry.make(options);
    const job::AgreedAlgorithms agreed = timed(*backend, network);
    EXPECT_EQ(agreed.uncertified, std::vector<std::string>{});
    EXPECT_EQ((*agreed.algorithms).at(tall), (*agreed.algorithms).at(signature(whole, "tall")));
    EXPECT_EQ((*agreed.algorithms).at(other), "direct");
    EXPECT_EQ(uncertified(*backend, network.coarse, network.model), std::vector<std::string>{});
  }
}

TEST(Certification, AnOperatorThatEqualsACutOneComputesAsItDoes) {
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    const Network network = cut_network(two_convolutions(), {{"second", {4}}});
    const Network whole(two_convolutions());
    const std::string signature = whole.coarse.graph.op(OpId(0)).signature;
    BackendOptions options;
    options.algorithms = Json{{signature, "winograd 8"}};
    const auto backend = entry.make(options);
    const job::AgreedAlgorithms agreed = timed(*backend, network);
    for (const Operator& op : network.coarse.graph.operators()) {
      if (op.name == "pool") continue;
      EXPECT_EQ((*agreed.algorithms).at(op.signature), (*agreed.algorithms).at(signature))
          << op.name;
    }
  }
}

// Winograd's method in blocks gives a shard the whole's bits from each fourth row only.
TEST(Certification, OnTheCpuShardsHaveTheBitsOfTheWhole) {
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    for (const std::int64_t row : {4, 5}) {
      const Network network = cut_network(two_convolutions(), {{"first", {row}}});
      const Network whole(two_convolutions());
      BackendOptions options;
      options.algorithms = Json{{whole.coarse.graph.op(OpId(0)).signature, "winograd 4"}};
      const auto backend = entry.make(options);
      const job::AgreedAlgorithms agreed = timed(*backend, network);
      EXPECT_EQ(agreed.uncertified, std::vector<std::string>{});
      EXPECT_EQ(uncertified(*backend, network.coarse, network.model), std::vector<std::string>{});
    }
  }
}

// oneDNN 2.6 sums 288 channels in another order for 8 of 17 rows, and dilated and narrow
// convolutions by other algorithms where images are small.
TEST(Certification, OnTheCpuBlocksOfRowsHaveTheBitsOfTheWhole) {
  const std::vector<std::pair<Conv, Shape>> cases = {
      {{384, {3, 3}, {2, 2}, {0, 0}}, {1, 288, 35, 35}},
      {{8, {3, 3}, {1, 1}, {1, 1}}, {1, 24, 17, 19}},
      {{16, {3, 3}, {1, 1}, {2, 2}, 1, true, {2, 2}}, {1, 16, 17, 17}}};
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    for (const auto& [conv, input] : cases) {
      ModelBuilder net("net", input);
      net.relu("relu", net.conv("conv", net.input(), conv));
      net.keep_layer_names();
      const Network network = cut_network(std::move(net).build(), {{"conv", {9}}});
      const auto backend = entry.make({});
      EXPECT_EQ(timed(*backend, network).uncertified, std::vector<std::string>{});
      EXPECT_EQ(uncertified(*backend, network.coarse, network.model), std::vector<std::string>{});
    }
  }
}

}  // namespace
}  // namespace hios
