// Cases of functions of one value and of two (layer_case_lists.h).
#include <limits>

#include "hios/graph/fusion/fusion.h"
#include "hios/model/layer_fields.h"
#include "support/layers/layer_case_lists.h"

namespace hios::test {
namespace {

using Inputs = std::span<const TensorId>;

struct Tried {
  Unary unary;
  InputRange range;
};

/// Returns attributes that differ from their defaults, and inputs for which the function is
/// defined.
Tried tried(Unary::Function function) {
  using Function = Unary::Function;
  const auto of = [&](InputRange range, float alpha = 0, float beta = 0) {
    return Tried{{function, alpha, beta}, range};
  };
  switch (function) {
    case Function::kAcos:
    case Function::kAsin:
      return of({-1, 1});
    case Function::kAcosh:
      return of({1, 6});
    case Function::kAtanh:
      return of({-0.95, 0.95});
    case Function::kCelu:
      return of({-4, 4}, 1.5f);
    case Function::kClip:
      return of({-2, 2}, -0.7f, 1.1f);
    case Function::kElu:
      return of({-4, 4}, 1.3f);
    case Function::kHardSigmoid:
      return of({-4, 4}, 0.25f, 0.4f);
    case Function::kLeakyRelu:
      return of({-2, 2}, 0.15f);
    case Function::kLog:
      return of({0.05, 8});
    case Function::kReciprocal:
      return of({0.2, 4});
    case Function::kSelu:
      return of({-4, 4}, 1.6732632f, 1.0507010f);
    case Function::kSqrt:
      return of({0, 9});
    case Function::kTan:
      return of({-1.2, 1.2});
    case Function::kThresholdedRelu:
      return of({-2, 2}, 0.8f);
    default:
      return of({-5, 5});
  }
}

void add_unaries(Cases& cases) {
  const auto& names = Names<Unary::Function>::kAll;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [unary, range] = tried(static_cast<Unary::Function>(i));
    const std::string name = "unary_" + std::string(names[i]);
    add_layer(cases, name, {{1, 7, 3, 5}}, unary, range);
    add_layer(cases, name + "_batch2", {{2, 19, 4, 3}}, unary, range);
  }
  // Inputs at which the literal formula would overflow or cancel.
  using Function = Unary::Function;
  for (const Function function :
       {Function::kSigmoid, Function::kSilu, Function::kMish, Function::kSoftplus, Function::kTanh,
        Function::kGelu, Function::kGeluTanh, Function::kErf, Function::kHardSwish,
        Function::kSoftsign}) {
    const std::string name = "unary_" + std::string(name_of(function));
    add_layer(cases, name + "_far_out", {{1, 7, 9, 5}}, Unary{function}, {-120, 120});
    add_layer(cases, name + "_near_zero", {{1, 7, 9, 5}}, Unary{function}, {-1e-3, 1e-3});
  }
  constexpr float kLargest = std::numeric_limits<float>::max();
  add_layer(cases, "unary_Clip_from_below", {{1, 7, 3, 5}}, Unary{Function::kClip, 0.3f, kLargest});
  add_layer(cases, "unary_Clip_relu6", {{1, 7, 3, 5}}, Unary{Function::kClip, 0, 6}, {-4, 10});
}

/// Adds activations that libraries apply in the pass of a convolution.
void add_activations(Cases& cases) {
  const Conv dense{19, {3, 3}, {1, 1}, {1, 1}}, pointwise{19, {1, 1}, {1, 1}, {0, 0}},
      depthwise{19, {3, 3}, {2, 2}, {1, 1}, 19};
  const auto& names = Names<Unary::Function>::kAll;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Unary unary = tried(static_cast<Unary::Function>(i)).unary;
    if (!is_activation(unary)) continue;
    const std::string name = "convolution_" + std::string(names[i]);
    const auto add_after_convolution = [&](const char* what, const Conv& conv) {
      cases.push_back(make_operation(
          name + what, std::vector<Shape>{{1, 19, 7, 6}},
          [&](ModelBuilder& b, Inputs x) { b.add("layer", unary, {b.conv("conv", x[0], conv)}); }));
    };
    add_after_convolution("", dense);
    add_after_convolution("_pointwise", pointwise);
    add_after_convolution("_depthwise", depthwise);
    for (const Conv& conv : {dense, pointwise}) {
      cases.push_back(make_operation(
          name + (conv.kernel.h == 1 ? "_pointwise_add" : "_add"),
          std::vector<Shape>{{2, 19, 7, 6}, {2, 19, 7, 6}}, [&](ModelBuilder& b, Inputs x) {
            b.add("layer", unary, {b.sum("sum", {b.conv("conv", x[0], conv), x[1]})});
          }));
    }
  }
}

InputRange domain(Binary::Function function) {
  if (function == Binary::Function::kDiv) return {0.4, 2.4};
  if (function == Binary::Function::kPow) return {0.2, 2.2};
  return {};
}

void add_binaries(Cases& cases) {
  struct Pair {
    const char* name;
    Shape left, right;
  };
  const Shape whole{2, 5, 3, 4};
  const Pair pairs[] = {
      {"same", whole, whole},
      {"over_images", whole, {1, 5, 3, 4}},
      {"over_channels", whole, {2, 1, 3, 4}},
      {"over_rows", whole, {2, 5, 1, 4}},
      {"over_columns", whole, {2, 5, 3, 1}},
      {"per_channel", {1, 19, 3, 4}, {1, 19, 1, 1}},
      {"per_channel_left", {2, 19, 1, 1}, {2, 19, 3, 4}},
      {"per_pixel", whole, {2, 1, 3, 4}},
      {"one_value", whole, {1, 1, 1, 1}},
      {"one_value_left", {1, 1, 1, 1}, whole},
      {"both", {1, 5, 1, 4}, {2, 1, 3, 1}},
  };
  struct Constant {
    const char* name;
    Shape input, constant;
  };
  const Constant constants[] = {
      {"same", whole, whole},
      {"per_channel", whole, {1, 5, 1, 1}},
      {"per_row", whole, {1, 1, 3, 1}},
      {"per_image", whole, {2, 1, 1, 1}},
      {"per_column", {1, 17, 2, 6}, {1, 1, 1, 6}},
      {"one_value", {1, 33, 2, 3}, {1, 1, 1, 1}},
      {"larger", {1, 5, 1, 4}, {2, 1, 3, 1}},
  };
  const auto& names = Names<Binary::Function>::kAll;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto function = static_cast<Binary::Function>(i);
    const InputRange range = domain(function);
    const std::string name = "binary_" + std::string(names[i]) + '_';
    for (const Pair& pair : pairs) {
      add_layer(cases, name + pair.name, {pair.left, pair.right}, Binary{function, {}, false},
                range);
    }
    for (const Constant& c : constants) {
      add_layer(cases, name + "constant_" + c.name, {c.input}, Binary{function, c.constant, false},
                range);
      add_layer(cases, name + "constant_first_" + c.name, {c.input},
                Binary{function, c.constant, true}, range);
    }
    const auto same_twice = [&](ModelBuilder& b, Inputs x) {
      b.add("layer", Binary{function, {}, false}, {x[0], x[0]});
    };
    cases.push_back(make_operation(name + "same_tensor_twice", {whole}, same_twice));
    cases.back().range = range;
  }
}

}  // namespace

void add_value_cases(Cases& cases) {
  add_unaries(cases);
  add_activations(cases);
  add_binaries(cases);
}

}  // namespace hios::test
