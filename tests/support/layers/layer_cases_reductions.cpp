// Cases of layers that reduce many values to one, or compare each with its neighbours
// (layer_case_lists.h).
#include "hios/model/layer_fields.h"
#include "support/layers/layer_case_lists.h"

namespace hios::test {
namespace {

using Inputs = std::span<const TensorId>;

struct NamedAxes {
  const char* name;
  Axes axes;
};
constexpr bool kYes = true, kNo = false;
constexpr NamedAxes kAxes[] = {
    {"n", {.n = kYes}},
    {"c", {.c = kYes}},
    {"h", {.h = kYes}},
    {"w", {.w = kYes}},
    {"hw", {.h = kYes, .w = kYes}},
    {"cw", {.c = kYes, .w = kYes}},
    {"chw", {.c = kYes, .h = kYes, .w = kYes}},
    {"nhw", {.n = kYes, .h = kYes, .w = kYes}},
    {"nchw", {kYes, kYes, kYes, kYes}},
};

void add_reductions(Cases& cases) {
  using Function = Reduce::Function;
  const auto& names = Names<Function>::kAll;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto function = static_cast<Function>(i);
    InputRange range;
    if (function == Function::kProd) range = {0.8, 1.25};
    if (function == Function::kLogSum) range = {0.2, 2.2};
    const std::string name(names[i]);
    for (const NamedAxes& axes : kAxes) {
      add_layer(cases, name + '_' + axes.name, {{2, 7, 3, 5}}, Reduce{function, axes.axes}, range);
    }
    add_layer(cases, name + "_none", {{1, 7, 3, 5}}, Reduce{function, {}}, range);
    if (function != Function::kProd) {  // of so many values it leaves the range of halves
      add_layer(cases, name + "_wide", {{1, 1100, 1, 3}}, Reduce{function, {.c = kYes}}, range);
    }
    add_layer(cases, name + "_many", {{1, 67, 9, 11}}, Reduce{function, {.h = kYes, .w = kYes}},
              range);
  }
  // exp(x) of these exceeds the floats.
  add_layer(cases, "ReduceLogSumExp_large", {{1, 7, 3, 5}},
            Reduce{Function::kLogSumExp, {.c = kYes}}, {60, 120});
  add_layer(cases, "ReduceLogSumExp_small", {{1, 7, 3, 5}},
            Reduce{Function::kLogSumExp, {.h = kYes}}, {-160, -120});
}

void add_softmaxes(Cases& cases) {
  for (const bool log : {false, true}) {
    const std::string name = log ? "log_softmax_" : "softmax_";
    for (const NamedAxes& axes : kAxes) {
      add_layer(cases, name + axes.name, {{2, 7, 3, 5}}, Softmax{axes.axes, log});
    }
    for (const std::int64_t classes :
         {101, 250, 400, 513, 1025, 2049}) {  // GPUs: 8 to 256 threads each
      add_layer(cases, name + "classes_" + std::to_string(classes), {{1, classes, 3, 3}},
                Softmax{{.c = kYes}, log}, {-8, 8});
    }
    add_layer(cases, name + "large", {{1, 19, 2, 3}}, Softmax{{.c = kYes}, log}, {-100, 200});
    add_layer(cases, name + "one_value", {{2, 1, 3, 2}}, Softmax{{.c = kYes}, log});
  }
}

void add_normalizations(Cases& cases) {
  struct Case {
    const char* name;
    Shape input;
    Axes axes;
    std::int64_t groups;
    Shape parameters;
  };
  const Axes image{.h = kYes, .w = kYes}, all{.c = kYes, .h = kYes, .w = kYes};
  const Case list[] = {
      {"instance", {2, 7, 5, 6}, image, 0, {1, 7, 1, 1}},
      {"instance_one_channel", {1, 1, 9, 8}, image, 0, {1, 1, 1, 1}},
      {"layer_c", {2, 19, 3, 4}, {.c = kYes}, 0, {1, 19, 1, 1}},
      {"layer_w", {2, 3, 4, 17}, {.w = kYes}, 0, {1, 1, 1, 17}},
      {"layer_chw", {2, 5, 3, 4}, all, 0, {1, 5, 3, 4}},
      {"layer_cw", {2, 5, 3, 4}, {.c = kYes, .w = kYes}, 0, {1, 5, 1, 4}},
      {"layer_wide", {1, 1100, 1, 3}, {.c = kYes}, 0, {1, 1100, 1, 1}},
      {"layer_tokens", {1, 96, 1, 7}, {.c = kYes}, 0, {1, 96, 1, 1}},
      {"batch", {3, 5, 4, 2}, {.n = kYes, .h = kYes, .w = kYes}, 0, {1, 5, 1, 1}},
      {"group_3", {2, 12, 4, 5}, image, 3, {1, 12, 1, 1}},
      {"group_1", {2, 6, 4, 5}, image, 1, {1, 6, 1, 1}},
      {"group_each", {1, 6, 4, 5}, image, 6, {1, 6, 1, 1}},
      {"group_a_pixel", {1, 12, 3, 2}, {}, 4, {1, 12, 1, 1}},
      {"scale_of_one_value", {1, 8, 3, 3}, image, 0, {1, 1, 1, 1}},
      {"scale_a_pixel", {2, 8, 3, 2}, image, 2, {1, 1, 3, 2}},
  };
  for (const Case& c : list) {
    const std::string name = std::string("normalization_") + c.name;
    Normalization layer{c.axes, c.groups, 1e-5f, {}, {}};
    add_layer(cases, name + "_plain", {c.input}, layer);
    layer.scale = c.parameters;
    add_layer(cases, name + "_scale", {c.input}, layer);
    layer.bias = c.parameters;
    layer.epsilon = 1e-2f;
    add_layer(cases, name + "_scale_bias", {c.input}, layer);
    layer.scale.reset();
    add_layer(cases, name + "_bias", {c.input}, layer, {-3, 1});
  }
  // The mean is ten times the deviation.
  add_layer(cases, "normalization_far_from_zero", {{1, 7, 6, 5}},
            Normalization{image, 0, 1e-5f, {}, {}}, {10, 13});
}

void add_response_normalizations(Cases& cases) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 8, 20}) {
    const LocalResponseNormalization layer{size, 0.3f, 0.6f, 1.5f};
    add_layer(cases, "lrn_" + std::to_string(size), {{2, 11, 3, 4}}, layer);
  }
  add_layer(cases, "lrn_defaults", {{1, 37, 4, 3}}, LocalResponseNormalization{5}, {-50, 50});
}

void add_products(Cases& cases) {
  struct Case {
    const char* name;
    Shape left, right;
    bool transposed = false;
  };
  const Case list[] = {
      {"plain", {1, 5, 1, 7}, {1, 9, 1, 5}},
      {"transposed", {1, 5, 1, 7}, {1, 5, 1, 9}, true},
      {"batch", {2, 6, 3, 4}, {2, 5, 3, 6}},
      {"batch_transposed", {2, 6, 3, 4}, {2, 6, 3, 5}, true},
      {"images_broadcast", {2, 6, 3, 4}, {1, 5, 3, 6}},
      {"heads_broadcast", {2, 6, 3, 4}, {2, 5, 1, 6}},
      {"left_broadcast", {1, 6, 1, 4}, {2, 5, 3, 6}},
      {"both_broadcast_transposed", {2, 6, 1, 4}, {1, 6, 3, 5}, true},
      {"row", {1, 33, 1, 1}, {1, 17, 1, 33}},
      {"column", {1, 33, 1, 18}, {1, 1, 1, 33}},
      {"one_inner", {1, 1, 1, 6}, {1, 7, 1, 1}},
      {"larger", {1, 65, 2, 33}, {1, 35, 2, 65}},
      {"larger_transposed", {1, 64, 2, 33}, {1, 64, 2, 35}, true},
  };
  for (const Case& c : list) {
    add_layer(cases, std::string("matmul_") + c.name, {c.left, c.right}, MatMul{c.transposed});
  }
  cases.push_back(
      make_operation("matmul_with_itself", {Shape{2, 7, 1, 9}}, [](ModelBuilder& b, Inputs x) {
        b.add("layer", MatMul{true}, {x[0], x[0]});
      }));
}

}  // namespace

void add_reduction_cases(Cases& cases) {
  add_reductions(cases);
  add_softmaxes(cases);
  add_normalizations(cases);
  add_response_normalizations(cases);
  add_products(cases);
}

}  // namespace hios::test
