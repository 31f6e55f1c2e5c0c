// Invariants of every model's operators, on random networks. coarsen_test.cpp has the patterns.
#include <set>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/networks/block.h"

namespace hios {
namespace {

using models::same;

/// A random network of every kind of layer, with wild reading.
Model random_model(std::uint64_t seed) {
  Random random(seed, "coarsen_random_test");
  ModelBuilder net("random", {1, 4, 5, 5});
  std::vector<TensorId> same_shape{net.input()};
  for (int i = 0; i < 40; ++i) {
    if (random.below(6) == 0) net.begin_block("block_" + std::to_string(i));
    const auto any = [&] {
      // The latest most often, so that chains appear.
      const std::size_t last = same_shape.size() - 1;
      return same_shape[random.below(3) > 0 ? last : random.below(same_shape.size())];
    };
    const std::string name = std::to_string(i);
    Conv conv = same(4, {3, 3});
    switch (random.below(8)) {
      case 0:
        conv.groups = 4;
        [[fallthrough]];
      case 1:
        same_shape.push_back(net.conv(name, any(), conv));
        break;
      case 2:
        same_shape.push_back(net.conv(name, any(), same(4, {1, 1})));
        break;
      case 3:
        net.concat(name, {any(), any()});
        break;
      case 4:
        same_shape.push_back(net.sum(name, {any(), any()}));
        break;
      case 5: {  // sums directly before their concat, of convolutions, too
        const TensorId x = any();
        const TensorId made = random.below(2) == 0 ? net.conv(name + "c", x, conv) : any();
        std::vector<TensorId> sums;
        for (const char* const which : {"a", "b"}) {
          const TensorId of = random.below(2) == 0 ? made : any();
          sums.push_back(net.sum(name + which, {of, x}));
        }
        net.concat(name, sums);
        break;
      }
      default:
        same_shape.push_back(net.relu(name, any()));
        break;
    }
  }
  return std::move(net).build();
}

/// The default, none, or random rules of the types that these networks have.
FusionRules random_fusion(std::uint64_t seed) {
  if (seed % 4 == 0) return {};
  if (seed % 4 == 1) return {FusionRules::Kind::kNone};
  Random random(seed, "random_fusion");
  const std::vector<std::string> types = {"Conv", "Relu", "Sum", "Concat", "BatchNormalization"};
  FusionRules fusion{FusionRules::Kind::kListed};
  for (std::uint64_t i = random.below(4) + 1; i > 0; --i) {
    auto& rule = fusion.rules.emplace_back();
    for (std::uint64_t k = random.below(4) + 2; k > 0; --k) {
      rule.push_back(types[random.below(types.size())]);
    }
  }
  return fusion;
}

TEST(Coarsen, KeepsItsInvariantsOnRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Model model = random_model(seed);
    const CoarseGraph coarse = coarsen(model, 4, random_fusion(seed));
    std::vector<int> taken(model.layers().size(), 0);
    for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
      const OperatorLayers& op = coarse.layers(OpId(i));
      const std::set<LayerId> inside(op.layers.begin(), op.layers.end());
      for (const LayerId id : op.layers) {
        ++taken[id.index()];
        EXPECT_EQ(model.layer(id).block, coarse.graph.op(OpId(i)).block);
        if (id == op.layers.back()) continue;
        for (const LayerId consumer : model.consumers(model.layer(id).output)) {
          EXPECT_TRUE(inside.contains(consumer)) << "the inside of an operator is read elsewhere";
        }
      }
      for (const TensorId input : op.inputs) {
        const auto producer = coarse.producer(input);
        EXPECT_TRUE(!producer || producer->index() < i) << "operators are not in order";
      }
    }
    for (const int times : taken) EXPECT_EQ(times, 1) << "a layer is in no operator or in two";
  }
}

}  // namespace
}  // namespace hios
