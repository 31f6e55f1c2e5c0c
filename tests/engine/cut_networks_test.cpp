// Networks whose operators are cut: tensors of the same name have the bits of the whole network, on
// the reference backend always, on others where the cut is certified.
#include <gtest/gtest.h>

#include <cstdio>

#include "engine/backends.h"
#include "hios/graph/network.h"
#include "hios/model/networks/networks.h"
#include "support/networks/cut_everywhere.h"
#include "support/networks/random_cuts.h"

namespace hios {
namespace {

using test::cut_everywhere;
using test::cut_network;
using test::WholeValues;

/// Returns the backends that compute on cores.
std::vector<std::unique_ptr<Backend>> on_cores() {
  std::vector<std::unique_ptr<Backend>> made;
  for (const auto& entry : backends()) {
    if (entry.make == nullptr || (entry.name != "reference" && entry.name != "cpu")) continue;
    made.push_back(entry.make({1, {}}));
  }
  return made;
}

TEST(CutNetworks, EveryKindAtEveryRow) {
  const Model model = test::kinds_that_are_cut();
  EXPECT_GT(cut_everywhere(WholeValues(model, on_cores()), Axis::kH, 1).cuts, 70u);
}

TEST(CutNetworks, EveryKindAtEveryBlockOfChannels) {
  const Model model = test::kinds_that_are_cut();
  EXPECT_GT(cut_everywhere(WholeValues(model, on_cores()), Axis::kC, 8).cuts, 40u);
}

/// Two inverted residuals, each one operator; the second has a stride.
Model inverted_residuals() {
  constexpr std::int64_t kNarrow = 8, kWide = 64, kSize = 48;
  const Conv expansion{kWide, {1, 1}, {1, 1}, {0, 0}}, projection{kNarrow, {1, 1}, {1, 1}, {0, 0}};
  ModelBuilder net("residuals", {1, kNarrow, kSize, kSize});
  TensorId x = net.input();
  for (const std::int64_t stride : {1, 2}) {
    const std::string name = "s" + std::to_string(stride);
    const Conv depthwise{kWide, {3, 3}, {stride, stride}, {1, 1}, kWide};
    TensorId y = net.relu(name + "_wide", net.conv(name + "_expansion", x, expansion));
    y = net.relu(name + "_middle", net.conv(name + "_depthwise", y, depthwise));
    y = net.conv(name + "_projection", y, projection);
    x = stride == 1 ? net.sum(name + "_sum", {x, y}) : y;
  }
  return std::move(net).build();
}

TEST(CutNetworks, InvertedResidualsAtSomeRowsAndChannels) {
  const Model model = inverted_residuals();
  ASSERT_EQ(Network(model).coarse.graph.size(), 2u);
  EXPECT_GT(cut_everywhere(WholeValues(model, on_cores()), Axis::kH, 7).cuts, 8u);
  EXPECT_GT(cut_everywhere(WholeValues(model, on_cores()), Axis::kC, 4).cuts, 0u);
}

TEST(CutNetworks, RandomCutsOfNetworks) {
  const auto seed = 3u;
  Random random(seed, "cut_networks_test");
  for (const auto& [name, size] : {std::pair{"squeezenet", 64}, {"inception_v3", 83}}) {
    const Model model = models::find(name)->build(1, size, size);
    SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
    const Cuts cuts = test::random_cuts(model, random);
    ASSERT_GT(cuts.size(), 5u);
    WholeValues(model, on_cores()).expect_of(cuts);
  }
}

TEST(CutNetworks, RandomCutsOfRandomNetworks) {
  std::size_t inexact = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cut networks");
    const Model model = test::random_layers(10, random);
    const Cuts cuts = test::random_cuts(model, random);
    if (!cuts.empty()) inexact += WholeValues(model, on_cores()).expect_of(cuts);
  }
  std::printf("  %zu of 40 networks have other bits on some backend\n", inexact);
}

TEST(CutNetworks, RandomNetworksOnRanksHaveTheBitsOfTheWhole) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cut ranks");
    const Model model = test::random_layers(12, random);
    const Cuts cuts = test::random_cuts(model, random);
    if (cuts.empty()) continue;
    test::expect_cut_ranks_like(Network(model), cut_network(model, cuts), seed);
    cut += cuts.size();
  }
  EXPECT_GT(cut, 200u);
}

}  // namespace
}  // namespace hios
