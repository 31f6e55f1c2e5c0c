#include <tuple>

#include "support/layers/operation_lists.h"

namespace hios::test {
namespace {

struct SeparableCase {
  const char* name;
  Shape input;  ///< shape of each summand
  std::size_t summands;
  std::int64_t kernel, stride, out_channels;
  bool bias, relu_after;
};

void add_relu_separables(CaseList& list) {
  const SeparableCase cases[] = {
      {"3x3", {1, 21, 9, 7}, 1, 3, 1, 21, true, false},
      {"5x5_s2", {1, 32, 11, 10}, 1, 5, 2, 48, true, false},
      {"7x7", {2, 14, 7, 7}, 1, 7, 1, 9, true, false},
      {"3x3_no_bias", {1, 16, 6, 6}, 1, 3, 1, 16, false, false},
      {"3x3_relu", {1, 42, 5, 6}, 1, 3, 1, 42, true, true},
      {"3x3_s2_sum2", {1, 17, 8, 9}, 2, 3, 2, 30, true, false},
      {"3x3_sum8", {1, 25, 7, 7}, 8, 3, 1, 25, true, false},
      {"5x5_sum3_relu", {1, 12, 6, 5}, 3, 5, 1, 18, true, true},
  };
  for (const SeparableCase& c : cases) {
    const std::int64_t channels = c.input.c, pad = c.kernel / 2;
    const Conv depthwise{channels, {c.kernel, c.kernel}, {c.stride, c.stride}, {pad, pad}, channels,
                         c.bias};
    const Conv pointwise{c.out_channels, {1, 1}, {1, 1}, {0, 0}, 1, c.bias};
    const std::vector<std::int64_t> inputs(c.summands > 1 ? c.summands : 0, channels);
    list.add(std::string("separable_") + c.name, c.input, inputs, [&](ModelBuilder& b, Inputs x) {
      const TensorId in = x.size() > 1 ? b.sum("sum", {x.begin(), x.end()}) : x[0];
      const TensorId middle = b.conv("depthwise", b.relu("relu", in), depthwise);
      const TensorId out = b.conv("pointwise", middle, pointwise);
      if (c.relu_after) b.relu("relu_after", out);
    });
  }
}

/// Adds depthwise and pointwise convolutions with an activation between them, and an addend where
/// the shape allows it.
void add_activated_separables(CaseList& list) {
  using enum Unary::Function;
  const std::tuple<const char*, Shape, std::int64_t, LayerKind> cases[] = {
      {"relu", {2, 32, 11, 10}, 2, Relu{}},
      {"clip", {1, 21, 9, 7}, 1, Unary{kClip, 0.0f, 0.5f}},
      {"clip_blocks", {1, 97, 40, 41}, 1, Unary{kClip, -0.25f, 0.5f}},
      {"hard_swish", {1, 40, 3, 5}, 2, Unary{kHardSwish}},
      {"silu", {2, 17, 5, 6}, 1, Unary{kSilu}},
  };
  for (const auto& [name, input, stride, between] : cases) {
    const Conv depthwise{input.c, {3, 3}, {stride, stride}, {1, 1}, input.c};
    const Conv pointwise{input.c, {1, 1}, {1, 1}, {0, 0}};
    const std::vector<std::int64_t> inputs(stride == 1 ? 2 : 0, input.c);
    list.add(std::string("separable_with_") + name, input, inputs, [&](ModelBuilder& b, Inputs x) {
      const TensorId middle = b.add("between", between, {b.conv("depthwise", x[0], depthwise)});
      const TensorId out = b.conv("pointwise", middle, pointwise);
      if (x.size() > 1) b.relu("relu", b.sum("sum", {out, x[1]}));
    });
  }
}

struct ExpandedCase {
  const char* name;
  Shape input;
  std::int64_t middle;  ///< channels
  std::int64_t kernel, stride, out_channels;
  LayerKind activation;  ///< after the first and the second convolution
  bool add_input, bias;
};

}  // namespace

void add_separables(CaseList& list) {
  add_relu_separables(list);
  add_activated_separables(list);
}

void add_expanded(CaseList& list) {
  using enum Unary::Function;
  const ExpandedCase cases[] = {
      {"relu6", {1, 5, 9, 7}, 30, 3, 1, 5, Unary{kClip, 0.0f, 6.0f}, true, true},
      {"relu_s2", {2, 3, 11, 10}, 17, 3, 2, 24, Relu{}, false, true},
      {"silu_5x5", {1, 7, 8, 9}, 21, 5, 1, 7, Unary{kSilu}, true, true},
      {"hard_swish_5x5_s2", {1, 4, 7, 6}, 19, 5, 2, 9, Unary{kHardSwish}, false, false},
      {"one_pixel", {3, 6, 1, 1}, 18, 3, 1, 6, Relu{}, true, true},
      {"narrow", {1, 40, 6, 5}, 8, 7, 1, 33, Relu{}, false, true},
  };
  for (const ExpandedCase& c : cases) {
    const std::int64_t pad = c.kernel / 2;
    const Conv first{c.middle, {1, 1}, {1, 1}, {0, 0}, 1, c.bias};
    const Conv depthwise{c.middle, {c.kernel, c.kernel}, {c.stride, c.stride}, {pad, pad}, c.middle,
                         c.bias};
    const Conv last{c.out_channels, {1, 1}, {1, 1}, {0, 0}, 1, c.bias};
    list.add(std::string("expanded_") + c.name, c.input, {}, [&](ModelBuilder& b, Inputs x) {
      const TensorId wide = b.add("wide", c.activation, {b.conv("first", x[0], first)});
      const TensorId middle = b.add("middle", c.activation, {b.conv("depthwise", wide, depthwise)});
      const TensorId out = b.conv("last", middle, last);
      if (c.add_input) b.sum("sum", {x[0], out});
    });
  }
  list.add("expanded_plain", {1, 6, 5, 8}, {}, [](ModelBuilder& b, Inputs x) {
    const Conv pointwise{6, {1, 1}, {1, 1}, {0, 0}}, depthwise{6, {3, 3}, {1, 1}, {1, 1}, 6};
    const TensorId middle = b.conv("depthwise", b.conv("first", x[0], pointwise), depthwise);
    b.relu("relu", b.conv("last", middle, pointwise));
  });
}

}  // namespace hios::test
