// Cases of windows that slide over an image, dilated, padded unevenly, or backwards
// (layer_case_lists.h).
#include "hios/model/infer_shape.h"
#include "support/layers/layer_case_lists.h"

namespace hios::test {
namespace {

using Inputs = std::span<const TensorId>;

struct ConvLayerCase {
  const char* name;
  Shape input;
  Conv conv;
};

std::vector<ConvLayerCase> conv_layer_cases() {
  const auto uneven = [](Extent begin, Extent end) { return Padding(begin, end); };
  return {
      {"dilated_2", {1, 7, 9, 8}, {12, {3, 3}, {1, 1}, {2, 2}, 1, true, {2, 2}}},
      {"dilated_3x1_s2", {2, 5, 11, 7}, {9, {3, 2}, {2, 1}, {1, 0}, 1, false, {3, 1}}},
      {"dilated_over_image", {1, 4, 5, 6}, {6, {3, 3}, {1, 1}, {4, 4}, 1, true, {4, 4}}},
      {"dilated_groups", {1, 12, 8, 7}, {18, {3, 3}, {1, 1}, {2, 2}, 3, true, {2, 2}}},
      {"rows_in_padding", {1, 16, 1, 6}, {16, {2, 2}, {1, 1}, {1, 1}, 1, true, {2, 2}}},
      {"columns_in_padding", {2, 16, 6, 1}, {24, {2, 2}, {1, 1}, {1, 1}, 1, true, {2, 2}}},
      {"between_rows", {1, 9, 2, 5}, {8, {2, 2}, {3, 1}, {3, 1}, 1, true, {6, 1}}},
      {"depthwise_dilated", {2, 19, 9, 7}, {19, {3, 3}, {1, 1}, {2, 2}, 19, true, {2, 2}}},
      {"depthwise_dilated_s2", {1, 16, 11, 9}, {16, {5, 3}, {2, 2}, {4, 1}, 16, false, {2, 1}}},
      {"uneven", {1, 6, 7, 8}, {10, {3, 3}, {1, 1}, uneven({0, 1}, {2, 0})}},
      {"uneven_s2", {2, 5, 8, 9}, {11, {3, 4}, {2, 2}, uneven({0, 1}, {1, 2})}},
      {"uneven_1x1", {1, 8, 5, 4}, {9, {1, 1}, {1, 1}, uneven({1, 0}, {0, 2})}},
      {"uneven_dilated",
       {1, 6, 8, 7},
       {7, {3, 3}, {1, 1}, uneven({3, 0}, {1, 4}), 1, true, {2, 2}}},
      {"uneven_groups", {1, 8, 7, 7}, {8, {2, 2}, {1, 1}, uneven({0, 0}, {1, 1}), 2}},
      {"uneven_depthwise", {1, 21, 8, 7}, {21, {3, 3}, {2, 2}, uneven({0, 0}, {1, 1}), 21}},
      {"uneven_depthwise_5x5", {2, 16, 7, 9}, {16, {5, 5}, {1, 1}, uneven({1, 3}, {3, 1}), 16}},
  };
}

void add_conv_layers(Cases& cases) {
  for (const ConvLayerCase& c : conv_layer_cases()) {
    const std::string name = std::string("conv_") + c.name;
    add_layer(cases, name, {c.input}, c.conv);
    cases.push_back(make_operation(name + "_relu", {c.input}, [&](ModelBuilder& b, Inputs x) {
      b.relu("relu", b.conv("conv", x[0], c.conv));
    }));
    cases.push_back(
        make_operation("sum_relu_" + name, {c.input, c.input}, [&](ModelBuilder& b, Inputs x) {
          const TensorId sum = b.sum("sum", {x[0], x[1]});
          b.conv("conv", b.relu("before", sum), c.conv);
        }));
    const Shape output = infer_shape(c.conv, std::span(&c.input, 1));
    cases.push_back(
        make_operation(name + "_add_relu", {c.input, output}, [&](ModelBuilder& b, Inputs x) {
          b.relu("relu", b.sum("sum", {x[1], b.conv("conv", x[0], c.conv)}));
        }));
  }
}

/// Adds a depthwise convolution and a pointwise one after it, as one operator.
void add_separable_layers(Cases& cases) {
  const Conv pointwise{11, {1, 1}, {1, 1}, {0, 0}};
  const std::vector<std::pair<const char*, Conv>> depthwise = {
      {"dilated", {18, {3, 3}, {1, 1}, {2, 2}, 18, true, {2, 2}}},
      {"uneven", {18, {3, 3}, {2, 2}, {Extent{0, 0}, Extent{1, 1}}, 18}},
      {"uneven_5x3", {18, {5, 3}, {1, 1}, {Extent{3, 0}, Extent{1, 2}}, 18, false}},
  };
  for (const auto& [name, conv] : depthwise) {
    cases.push_back(make_operation(
        std::string("separable_") + name, {Shape{1, 18, 9, 8}}, [&](ModelBuilder& b, Inputs x) {
          const TensorId middle = b.conv("depthwise", b.relu("relu", x[0]), conv);
          b.conv("pointwise", middle, pointwise);
        }));
  }
}

void add_transposed_convs(Cases& cases) {
  struct Case {
    const char* name;
    Shape input;
    ConvTranspose conv;
  };
  const Padding uneven(Extent{0, 1}, Extent{2, 0});
  const Case list[] = {
      {"1x1", {1, 7, 4, 5}, {9, {1, 1}, {1, 1}, {0, 0}}},
      {"2x2_s2", {1, 16, 5, 4}, {8, {2, 2}, {2, 2}, {0, 0}}},
      {"2x2_s2_batch2", {2, 5, 3, 4}, {7, {2, 2}, {2, 2}, {0, 0}, {0, 0}, 1, false}},
      {"3x3", {1, 6, 5, 4}, {10, {3, 3}, {1, 1}, {0, 0}}},
      {"3x3_s2_p1", {1, 12, 4, 6}, {9, {3, 3}, {2, 2}, {1, 1}}},
      {"3x3_s2_p1_op1", {1, 12, 4, 6}, {9, {3, 3}, {2, 2}, {1, 1}, {1, 1}}},
      {"4x4_s2_p1", {2, 8, 3, 5}, {6, {4, 4}, {2, 2}, {1, 1}}},
      {"3x2_s3x1", {1, 5, 4, 3}, {4, {3, 2}, {3, 1}, {0, 0}}},
      {"stride_over_kernel", {1, 3, 3, 4}, {5, {2, 1}, {3, 4}, {0, 0}, {1, 2}}},
      {"uneven", {1, 6, 5, 5}, {7, {4, 3}, {2, 2}, uneven}},
      {"dilated", {1, 6, 4, 5}, {5, {3, 3}, {1, 1}, {1, 2}, {0, 0}, 1, true, {2, 2}}},
      {"dilated_s2", {2, 4, 4, 3}, {6, {2, 3}, {2, 2}, {1, 0}, {1, 0}, 1, false, {3, 1}}},
      {"groups_2", {1, 8, 5, 4}, {6, {3, 3}, {2, 2}, {1, 1}, {0, 0}, 2}},
      {"groups_3_no_bias", {2, 9, 3, 4}, {12, {4, 4}, {2, 2}, {1, 1}, {0, 0}, 3, false}},
      {"depthwise", {1, 17, 5, 4}, {17, {4, 4}, {2, 2}, {1, 1}, {0, 0}, 17}},
      {"groups_dilated_uneven", {1, 4, 5, 6}, {8, {3, 3}, {2, 1}, uneven, {0, 0}, 2, true, {1, 2}}},
  };
  for (const Case& c : list) {
    add_layer(cases, std::string("conv_transpose_") + c.name, {c.input}, c.conv);
  }
}

void add_pool_layers(Cases& cases) {
  struct Case {
    const char* name;
    Shape input;
    Extent kernel, stride;
    Padding padding;
    Extent dilation;
    bool ceil;
  };
  const Padding none(0, 0), one(1, 1), uneven(Extent{0, 1}, Extent{1, 0});
  const Case list[] = {
      {"ceil", {1, 19, 8, 6}, {3, 3}, {2, 2}, none, {1, 1}, true},
      {"ceil_that_changes_nothing", {1, 5, 7, 9}, {3, 3}, {2, 2}, none, {1, 1}, true},
      {"ceil_p1", {2, 7, 6, 8}, {3, 3}, {2, 2}, one, {1, 1}, true},
      // The window that would begin in the padding after the image is left out.
      {"ceil_none_in_padding", {1, 6, 4, 5}, {2, 2}, {3, 2}, one, {1, 1}, true},
      {"ceil_s3", {1, 4, 9, 5}, {2, 2}, {3, 3}, none, {1, 1}, true},
      {"dilated", {1, 17, 9, 8}, {3, 2}, {1, 1}, none, {2, 3}, false},
      {"dilated_p1_s2", {2, 6, 9, 8}, {3, 3}, {2, 2}, one, {2, 2}, false},
      {"dilated_ceil", {1, 6, 10, 7}, {2, 3}, {3, 2}, one, {3, 2}, true},
      {"uneven", {1, 9, 7, 6}, {2, 2}, {1, 1}, uneven, {1, 1}, false},
      {"uneven_s2", {2, 5, 8, 7}, {3, 3}, {2, 2}, uneven, {1, 1}, false},
      {"uneven_ceil", {1, 5, 8, 7}, {3, 3}, {2, 3}, uneven, {1, 1}, true},
      {"even", {1, 8, 5, 6}, {3, 3}, {2, 2}, one, {1, 1}, false},
      {"whole_image", {1, 33, 5, 7}, {5, 7}, {1, 1}, none, {1, 1}, false},
      {"only_rows", {1, 3, 6, 4}, {3, 1}, {2, 1}, {1, 0}, {1, 1}, true},
  };
  for (const Case& c : list) {
    Pool pool{Pool::Kind::kMax, c.kernel, c.stride, c.padding, c.dilation, c.ceil};
    add_layer(cases, std::string("max_pool_") + c.name, {c.input}, pool);
    pool.kind = Pool::Kind::kAverage;
    add_layer(cases, std::string("average_pool_") + c.name, {c.input}, pool);
    pool.count_padding = true;
    add_layer(cases, std::string("padded_average_pool_") + c.name, {c.input}, pool);
  }
}

}  // namespace

void add_window_cases(Cases& cases) {
  add_conv_layers(cases);
  add_separable_layers(cases);
  add_transposed_convs(cases);
  add_pool_layers(cases);
}

}  // namespace hios::test
