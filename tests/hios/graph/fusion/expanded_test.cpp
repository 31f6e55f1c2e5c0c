// Pointwise, depthwise and pointwise convolution as one operator (ExpandedForm): its form and
// parts, and where coarsen() makes one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hios/graph/fusion/coarsen.h"

namespace hios {
namespace {

constexpr std::int64_t kNarrowChannels = 16, kWideChannels = 96;

Conv one_by_one(std::int64_t channels, std::int64_t stride = 1) {
  return {channels, {1, 1}, {stride, stride}, {0, 0}};
}

Conv channelwise(Extent kernel = {3, 3}) {
  return {kWideChannels, kernel, {1, 1}, {kernel.h / 2, kernel.w / 2}, kWideChannels};
}

/// A block of a network; changes of it are what coarsen() shall not fuse.
struct ExpandedBlock {
  std::int64_t size = 40;  // 40×40×96 values are large
  Conv first = one_by_one(kWideChannels);
  Conv window = channelwise();
  Conv last = one_by_one(kNarrowChannels);
  bool read_twice = false;

  Model model() const {
    ModelBuilder net("net", {1, kNarrowChannels, size, size});
    const TensorId wide = net.relu("relu", net.conv("first", net.input(), first));
    const TensorId middle =
        net.add("clip", Unary{Unary::Function::kClip, 0, 6}, {net.conv("window", wide, window)});
    net.sum("sum", {net.conv("last", middle, last), net.input()});
    if (read_twice) net.relu("again", wide);
    return std::move(net).build();
  }
};

/// Returns the numbers of layers of each operator.
std::vector<std::size_t> layer_counts(const Model& model) {
  std::vector<std::size_t> result;
  for (const OperatorLayers& op : coarsen(model).operators) result.push_back(op.layers.size());
  return result;
}

TEST(ExpandedForm, NamesTheExpansionAndItsChain) {
  const Model model = ExpandedBlock().model();
  const CoarseGraph coarse = coarsen(model);
  ASSERT_EQ(coarse.operators.size(), 1u);
  const ConvolutionChain chain{.terms = {InputIndex(0)},
                               .depthwise = LayerId(2),
                               .between = LayerId(3),
                               .convolution = LayerId(4),
                               .addend = InputIndex(1)};
  const ExpandedForm expected{InputIndex(0), LayerId(0), LayerId(1), chain};
  EXPECT_EQ(coarse.operators.front().form, Form(expected));
}

TEST(ExpandedForm, HasTheLayersBeforeItsChainAndTheChainAsParts) {
  const Model model = ExpandedBlock().model();
  const std::vector<Part> parts = parts_of(model, coarsen(model).operators.front());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].layers.layers, (std::vector{LayerId(0), LayerId(1)}));
  EXPECT_TRUE(std::holds_alternative<ConvolutionChain>(parts[0].layers.form));
  EXPECT_EQ(parts[0].operands, (std::vector{Operand{false, 0}}));
  EXPECT_EQ(std::get<ConvolutionChain>(parts[1].layers.form).depthwise, LayerId(2));
  EXPECT_EQ(parts[1].operands, (std::vector{Operand{true, 0}, Operand{false, 1}}));
}

TEST(ExpandedForm, IsMadeWhereTheTensorInTheMidstIsLarge) {
  const std::vector<std::size_t> one{6}, two{2, 4};
  ExpandedBlock small;
  small.size = 36;  // 36×36×96 values are 5 % less than 128 Ki
  EXPECT_EQ(layer_counts(ExpandedBlock().model()), one);
  EXPECT_EQ(layer_counts(small.model()), two);
}

TEST(ExpandedForm, IsNotMadeOfOtherConvolutions) {
  const std::vector<std::size_t> two{2, 4}, three{2, 2, 2};
  ExpandedBlock window_first, rare_window, window_last, shared;
  window_first.first = {kWideChannels, {3, 3}, {1, 1}, {1, 1}};
  rare_window.window = channelwise({3, 5});
  window_last.last = {kNarrowChannels, {3, 3}, {1, 1}, {1, 1}};
  EXPECT_EQ(layer_counts(window_first.model()), two);
  EXPECT_EQ(layer_counts(rare_window.model()), three);
  EXPECT_EQ(layer_counts(window_last.model()), three);
  shared.read_twice = true;
  EXPECT_EQ(layer_counts(shared.model()), (std::vector<std::size_t>{2, 4, 1}));
}

TEST(ExpandedForm, IsNotMadeAfterAStride) {
  ModelBuilder net("net", {1, kNarrowChannels, 80, 80});
  const TensorId wide = net.conv("first", net.input(), one_by_one(kWideChannels, 2));
  net.conv("last", net.conv("window", wide, channelwise()), one_by_one(kNarrowChannels));
  EXPECT_EQ(layer_counts(std::move(net).build()), (std::vector<std::size_t>{1, 2}));
}

}  // namespace
}  // namespace hios
