// Images whose channels a gate scales before a pointwise convolution, as squeeze and excitation
// does: one operator (ConvolutionChain::gate).
#include "support/layers/layer_case_lists.h"

namespace hios::test {
namespace {

struct GatedCase {
  const char* name;
  Shape image;
  std::int64_t out_channels, stride = 1;
  bool gate_first = false, bias = true, addend = false;
  std::optional<Unary::Function> after = {};
};

void add(Cases& cases, const GatedCase& gated) {
  const Shape& image = gated.image;
  const Shape gate{image.n, image.c, 1, 1};
  std::vector<Shape> inputs{gated.gate_first ? gate : image, gated.gate_first ? image : gate};
  if (gated.addend) inputs.push_back({image.n, gated.out_channels, image.h, image.w});
  const Conv pointwise{gated.out_channels, {1, 1}, {gated.stride, gated.stride}, {0, 0}, 1,
                       gated.bias};
  cases.push_back(make_operation(
      "gated_" + std::string(gated.name), inputs,
      [&](ModelBuilder& b, std::span<const TensorId> x) {
        TensorId y = b.add("scaled", Binary{Binary::Function::kMul, {}, false}, {x[0], x[1]});
        y = b.conv("pointwise", y, pointwise);
        if (gated.addend) y = b.sum("sum", {x[2], y});
        if (gated.after) b.add("after", Unary{*gated.after}, {y});
      }));
}

}  // namespace

void add_gated_cases(Cases& cases) {
  using enum Unary::Function;
  for (const GatedCase& gated :
       {GatedCase{.name = "odd", .image = {1, 13, 5, 7}, .out_channels = 17},
        GatedCase{.name = "first", .image = {2, 24, 6, 5}, .out_channels = 20, .gate_first = true},
        GatedCase{.name = "row", .image = {3, 9, 1, 8}, .out_channels = 6, .bias = false},
        GatedCase{.name = "s2", .image = {2, 19, 7, 9}, .out_channels = 8, .stride = 2},
        GatedCase{.name = "addend", .image = {2, 33, 6, 7}, .out_channels = 21, .addend = true},
        GatedCase{.name = "silu", .image = {1, 16, 8, 8}, .out_channels = 40, .after = kSilu},
        GatedCase{.name = "all",
        .image = {2, 35, 9, 6},
        .out_channels = 12,
        .gate_first = true,
        .addend = true,
        .after = kHardSwish}}) {
    add(cases, gated);
  }
}

}  // namespace hios::test
