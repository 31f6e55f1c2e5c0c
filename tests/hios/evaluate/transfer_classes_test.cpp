#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"

// Costs of tensors by classes of devices, next to those computed for each pair.

namespace hios {
namespace {

/// Returns the time of an edge from one device to another by the rules of docs/formats.md.
double plain_ms(const Platform& platform, const Edge& edge, DeviceId from, DeviceId to) {
  if (from == to) return 0;
  if (edge.transfer_ms) return *edge.transfer_ms;
  const Device &sender = platform.device(from), &receiver = platform.device(to);
  if (edge.transfer_by_pair) {
    for (const std::string& one : {sender.name, sender.kind}) {
      const auto row = edge.transfer_by_pair->find(one);
      if (row == edge.transfer_by_pair->end()) continue;
      for (const std::string& other : {receiver.name, receiver.kind}) {
        const auto found = row->second.find(other);
        if (found != row->second.end()) return found->second;
      }
    }
  }
  return platform.link(from, to)->transfer_ms(edge.size_bytes);
}

Platform random_platform(std::size_t devices, bool any_links, Random& random) {
  std::vector<Device> all;
  for (std::size_t d = 0; d < devices; ++d) {
    all.push_back({"d" + std::to_string(d), "kind" + std::to_string(random.below(3)), 1, 1, 0, ""});
  }
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  for (std::size_t a = 0; a < devices && any_links; ++a) {
    for (std::size_t b = 0; b < devices; ++b) {
      const bool one_node = a / 3 == b / 3;
      if (a == b || (!one_node && random.below(40) > 0)) continue;
      links.emplace_back(DeviceId(a), DeviceId(b), Link{0, random.below(4) > 0 ? 10.0 : 20.0});
    }
  }
  return Platform(std::move(all), std::move(links), Link{0.25, 3});
}

Graph random_sizes(std::size_t operators, bool by_pair, Random& random) {
  std::vector<Operator> all(operators);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < operators; ++i) {
    all[i].name = "v" + std::to_string(i);
    all[i].has_time = true;
    all[i].time_ms = 1;
    if (i == 0) continue;
    Edge edge{OpId(random.below(i)), OpId(i), 1 + random.below(1'000'000), std::nullopt};
    if (by_pair && random.below(4) == 0) edge.transfer_ms = random.uniform(0, 2);
    if (by_pair && random.below(2) == 0) {
      PairTimes times;
      const auto name = [&] {
        return random.below(3) == 0 ? "d" + std::to_string(random.below(4))
                                    : "kind" + std::to_string(random.below(4));
      };
      for (int pair = 0; pair < 4; ++pair) times[name()][name()] = random.uniform(0, 5);
      edge.transfer_by_pair = std::make_shared<const PairTimes>(std::move(times));
    }
    edges.push_back(std::move(edge));
  }
  return Graph("sizes", std::move(all), std::move(edges));
}

/// Compares costs and means of every so many edges to the last bit, the latter also for a subset of
/// the devices.
void expect_plain_costs(const Graph& graph, const Platform& platform, std::size_t every = 1) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const std::vector<DeviceId> some{DeviceId(0), DeviceId(platform.size() - 1)};
  const CostModel subset = costs.only(some);
  const std::size_t devices = platform.size();
  for (std::size_t e = 0; e < graph.edge_count(); e += every) {
    const Edge& edge = graph.edge(EdgeId(e));
    double sum = 0, sum_of_some = 0;
    for (std::size_t a = 0; a < devices; ++a) {
      for (std::size_t b = 0; b < devices; ++b) {
        const double ms = plain_ms(platform, edge, DeviceId(a), DeviceId(b));
        ASSERT_EQ(costs.transfer_ms(EdgeId(e), DeviceId(a), DeviceId(b)), ms) << a << " to " << b;
        sum += ms;
      }
    }
    if (devices < 2) continue;
    for (const DeviceId a : some) {
      for (const DeviceId b : some) sum_of_some += plain_ms(platform, edge, a, b);
    }
    const double mean = sum / static_cast<double>(devices * (devices - 1));
    ASSERT_EQ(costs.mean_transfer_ms(EdgeId(e)), edge.transfer_ms.value_or(mean));
    ASSERT_EQ(subset.mean_transfer_ms(EdgeId(e)), edge.transfer_ms.value_or(sum_of_some / 2));
  }
}

TEST(TransferClasses, CostAsEachPairDoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "transfers");
    const Platform platform = random_platform(1 + random.below(12), seed % 3 > 0, random);
    expect_plain_costs(random_sizes(1 + random.below(30), seed % 2 == 0, random), platform);
    if (::testing::Test::HasFailure()) return;
  }
}

/// A link of its own for each pair of many devices, and a size for each edge: too many costs for a
/// table.
TEST(TransferClasses, AreComputedWhereTheyAreTooMany) {
  constexpr std::size_t kDevices = 72, kOperators = 1700;
  Random random(1, "many transfers");
  std::vector<Device> devices;
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  for (std::size_t a = 0; a < kDevices; ++a) {
    devices.push_back({"d" + std::to_string(a), "gpu", 1, 1, 0, ""});
    for (std::size_t b = 0; b < kDevices; ++b) {
      if (a != b) links.emplace_back(DeviceId(a), DeviceId(b), Link{0, random.uniform(1, 9)});
    }
  }
  const Platform platform(std::move(devices), std::move(links));
  expect_plain_costs(random_sizes(kOperators, false, random), platform, 50);
}

TEST(TransferClasses, ManyDevicesTakeAlmostNothing) {
  Random random(2, "large platform");
  const Platform platform = random_platform(10'000, false, random);
  const Graph graph = random_sizes(50, false, random);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const double ms = costs.transfer_ms(EdgeId(0), DeviceId(7), DeviceId(9'999));
  EXPECT_EQ(ms, Link({0.25, 3}).transfer_ms(graph.edge(EdgeId(0)).size_bytes));
  EXPECT_DOUBLE_EQ(costs.mean_transfer_ms(EdgeId(0)), ms);
}

}  // namespace
}  // namespace hios
