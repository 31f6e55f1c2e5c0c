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
