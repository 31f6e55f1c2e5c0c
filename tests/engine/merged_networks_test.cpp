// Networks whose sibling convolutions are merged: weights are those of the members, and tensors of
// the same name have the same values as without merging, bit for bit on the reference backend.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/backends.h"
#include "hios/graph/fusion/merge_siblings.h"
#include "hios/graph/network.h"
#include "hios/model/networks/networks.h"
#include "support/networks/cut_everywhere.h"

namespace hios {
namespace {

using Floats = std::vector<float>;

constexpr std::uint64_t kMergeSeed = 7;

struct Parameters {
  Floats weights, bias;
  explicit Parameters(const Model& model, const Layer& layer) {
    const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
    weights.resize(static_cast<std::size_t>(counts.weights));
    bias.resize(static_cast<std::size_t>(counts.bias));
    SeededSource source(kMergeSeed);
    if (counts.weights > 0) source.weights(model, layer, weights);
    if (counts.bias > 0) source.bias(model, layer, bias);
  }
};

/// Expects the weights of the members, one after another.
void expect_weights_of_members(const Model& model, const Model& merged) {
  for (const Layer& wide : merged.layers()) {
    if (wide.merged.empty()) continue;
    const Parameters together(merged, wide);
    Floats weights, bias;
    for (const MergedConvolution& member : wide.merged) {
      const auto layer = std::ranges::find(model.layers(), member.name, &Layer::name);
      ASSERT_NE(layer, model.layers().end());
      const Parameters alone(model, *layer);
      weights.insert(weights.end(), alone.weights.begin(), alone.weights.end());
      bias.insert(bias.end(), alone.bias.begin(), alone.bias.end());
    }
    EXPECT_EQ(together.weights, weights) << wide.name;
    EXPECT_EQ(together.bias, bias) << wide.name;
  }
}

/// Two sets of siblings whose weights come with the model, and a third operator that reads both.
Model with_own_weights() {
  ModelBuilder net("net", {2, 6, 5, 4});
  ModelWeights values;
  const auto conv = [&](const std::string& name, TensorId x, std::int64_t channels) {
    ModelWeights::Values own;
    for (std::int64_t i = 0; i < channels * net.shape(x).c; ++i) {
      own.weights.push_back(static_cast<float>(i % 7) - 3 + static_cast<float>(channels));
    }
    own.bias.assign(static_cast<std::size_t>(channels), static_cast<float>(channels));
    values.set(name, own);
    return net.relu(name + "/relu", net.conv(name, x, {channels, {1, 1}, {1, 1}, {0, 0}}));
  };
  const TensorId a = conv("a", net.input(), 3), b = conv("b", net.input(), 5);
  const TensorId c = conv("c", b, 4), d = conv("d", b, 2);
  net.concat("all", {a, c, d});
  net.keep_layer_names();
  net.set_weights(std::move(values));
  return std::move(net).build();
}

void expect_same_values(const Model& model) {
  const auto values_of = [](const Network& network, std::string_view backend) {
    return test::named_values(network, *find_backend(backend).make({1, {}}), kMergeSeed);
  };
  const Network apart(model), merged(model, 4, {.merge = Merge::kSiblings});
  ASSERT_NE(apart.coarse.graph.digest(), merged.coarse.graph.digest());
  const auto expected = values_of(apart, "reference");
  for (const auto& entry : backends()) {
    if (entry.make == nullptr || (entry.name != "reference" && entry.name != "cpu")) continue;
    SCOPED_TRACE(entry.name);
    test::expect_alike(values_of(merged, entry.name), expected, entry.name == "reference");
  }
}

TEST(MergedNetworks, BringTheWeightsOfAllMembers) {
  const Model model = with_own_weights();
  expect_weights_of_members(model, merge_siblings(model));
  expect_same_values(model);
}

TEST(MergedNetworks, DrawTheWeightsOfAllMembers) {
  for (const auto& [name, size] : {std::pair{"inception_v3", 75}, {"squeezenet", 48}}) {
    SCOPED_TRACE(name);
    const Model model = models::find(name)->build(1, size, size);
    const Model merged = merge_siblings(model);
    ASSERT_LT(merged.layers().size(), 2 * model.layers().size());
    expect_weights_of_members(model, merged);
  }
}

TEST(MergedNetworks, MakeTheSameValues) {
  expect_same_values(models::find("squeezenet")->build(2, 48, 48));
  expect_same_values(models::find("inception_v3")->build(1, 75, 75));
}

}  // namespace
}  // namespace hios
