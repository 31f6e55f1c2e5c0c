#include "scheduler/list/placement.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/graph.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using test::devices_with_memory;

Graph weighty(const std::vector<Bytes>& bytes) {
  std::vector<Operator> operators;
  for (Bytes each : bytes) {
    Operator op;
    op.name = std::string("v").append(std::to_string(operators.size() + 1));
    op.time_ms = 1;
    op.has_time = true;
    op.memory_bytes = each / 2;
    op.parameter_bytes = each - each / 2;
    operators.push_back(op);
  }
  return Graph("weighty", std::move(operators), {});
}

std::vector<Bytes> held(const Graph& graph, const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  std::vector<Bytes> result(platform.size(), 0);
  const auto placed = pack_operators(graph, costs, "best");
  for (std::size_t i = 0; i < graph.size(); ++i) {
    result[placed[i]->index()] +=
        graph.op(OpId(i)).memory_bytes + graph.op(OpId(i)).parameter_bytes;
  }
  return result;
}

TEST(Packing, FillsDevicesToTheLastByte) {
  EXPECT_EQ(held(weighty({5, 4, 3, 3, 3}), devices_with_memory({9, 9})),
            (std::vector<Bytes>{9, 9}));
  EXPECT_EQ(held(weighty({7, 6, 4, 3}), devices_with_memory({10, 10})),
            (std::vector<Bytes>{10, 10}));
}

TEST(Packing, WithoutLimitsBalancesWork) {
  EXPECT_EQ(held(weighty({1, 1, 1, 1, 1, 1}), devices_with_memory({0, 0, 0})),
            (std::vector<Bytes>{2, 2, 2}));
}

TEST(Packing, LabelsStayTogetherOnADeviceThatCanRunAll) {
  std::vector<Operator> operators;
  for (int i = 0; i < 3; ++i) {
    Operator op;
    op.name = std::string("v").append(std::to_string(i + 1));
    op.time_ms = 1;
    op.has_time = true;
    if (i < 2) op.colocate = "pair";
    if (i == 1) op.allowed = {"gpu1"};
    operators.push_back(op);
  }
  const Graph graph("labels", operators, {});
  const Platform platform = devices_with_memory({0, 0});
  const auto placed = pack_operators(graph, CostModel::from_graph(graph, platform), "best");
  EXPECT_EQ(placed[0], DeviceId(1));
  EXPECT_EQ(placed[1], DeviceId(1));
  EXPECT_EQ(placed[2], DeviceId(0));
}

/// Returns sizes that fill all devices to the last byte: each device's room is cut into `each`
/// operators.
std::vector<Bytes> exactly_full(std::size_t devices, std::size_t each, Bytes room, Random& random) {
  std::vector<Bytes> sizes;
  for (std::size_t d = 0; d < devices; ++d) {
    std::vector<Bytes> cuts{0, room};
    while (cuts.size() < each + 1) cuts.push_back(1 + random.below(room - 1));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i < each; ++i) sizes.push_back(cuts[i + 1] - cuts[i]);
  }
  for (std::size_t i = sizes.size(); i > 1; --i) std::swap(sizes[i - 1], sizes[random.below(i)]);
  return sizes;
}

TEST(Packing, FindsEveryPlacementThatFillsAllDevices) {
  EXPECT_EQ(held(weighty({112, 361, 208, 332, 301, 324, 214, 136, 124, 348, 115, 425}),
                 devices_with_memory({1000, 1000, 1000})),
            (std::vector<Bytes>{1000, 1000, 1000}));
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "exactly full");
    const std::size_t devices = 2 + random.below(3);
    const std::size_t each = (8 + random.below(9)) / devices;
    const Bytes room = seed % 2 == 0 ? 1000 : 1'000'000'000;
    const Graph graph = weighty(exactly_full(devices, each, room, random));
    const Platform platform = devices_with_memory(std::vector<Bytes>(devices, room));
    EXPECT_EQ(held(graph, platform), std::vector<Bytes>(devices, room));
  }
}

TEST(Packing, MessageSaysIfNoneExistsAndNamesLabelsOnlyIfPresent) {
  const Graph plain = weighty({4, 4, 4});
  const auto message = [](const Graph& graph) {
    const Platform platform = devices_with_memory({7, 7});
    const CostModel costs = CostModel::from_graph(graph, platform);
    try {
      pack_operators(graph, costs, "best");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(plain).find("there is no placement that fits memory: "), std::string::npos);
  EXPECT_EQ(message(plain).find("label"), std::string::npos);
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  operators[0].colocate = operators[1].colocate = "pair";
  const std::string labelled = message(Graph("labelled", operators, {}));
  EXPECT_NE(labelled.find("there is no placement that fits labels and memory: "),
            std::string::npos);
  EXPECT_NE(labelled.find("fewer labels"), std::string::npos);
  // Even sizes on odd devices, too many for an exhaustive search: no placement is found, but none
  // is proven either.
  std::vector<Bytes> even;
  for (Bytes i = 0; i < 60; ++i) even.push_back(100'000 + 2 * (i * i * i % 4999));
  Bytes half = 1;
  for (std::size_t i = 0; i < even.size(); i += 2) half += even[i];
  Bytes rest = 0;
  for (std::size_t i = 1; i < even.size(); i += 2) rest += even[i];
  const Graph many = weighty(even);
  const Platform odd = devices_with_memory({half, rest - 1});
  const CostModel costs = CostModel::from_graph(many, odd);
  test::expect_error([&] { pack_operators(many, costs, "best"); }, {"no placement was found"});
}

TEST(Packing, MessageNamesTheOperatorLeftOver) {
  const Graph graph = weighty({2, 8, 3});
  const Platform platform = devices_with_memory({7, 7});
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error([&] { pack_operators(graph, costs, "best"); }, {"best", "v2", "memory_bytes"});
}

}  // namespace
}  // namespace hios::scheduler
