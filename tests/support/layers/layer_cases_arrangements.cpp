// Cases of layers that move values, join them, or read them in another shape (layer_case_lists.h).
#include <array>
#include <numeric>

#include "hios/model/layer_fields.h"
#include "support/layers/layer_case_lists.h"

namespace hios::test {
namespace {

using Inputs = std::span<const TensorId>;

void add_pads(Cases& cases) {
  struct Case {
    const char* name;
    Shape begin, end;
  };
  const Case list[] = {
      {"n", {1, 0, 0, 0}, {1, 0, 0, 0}},     {"c", {0, 2, 0, 0}, {0, 3, 0, 0}},
      {"h", {0, 0, 2, 0}, {0, 0, 1, 0}},     {"w", {0, 0, 0, 1}, {0, 0, 0, 3}},
      {"image", {0, 0, 1, 2}, {0, 0, 2, 1}}, {"all", {1, 1, 2, 3}, {1, 3, 0, 1}},
      {"before", {0, 0, 2, 3}, {}},          {"after", {}, {0, 1, 2, 0}},
  };
  const auto& modes = Names<Pad::Mode>::kAll;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (const Case& c : list) {
      const Pad pad{static_cast<Pad::Mode>(i), c.begin, c.end, 0.75f};
      add_layer(cases, "pad_" + std::string(modes[i]) + '_' + c.name, {{2, 5, 3, 4}}, pad);
    }
  }
  // More padding than the image is wide.
  for (const Pad::Mode mode : {Pad::Mode::kConstant, Pad::Mode::kEdge, Pad::Mode::kWrap}) {
    const Pad pad{mode, {0, 0, 5, 2}, {0, 0, 3, 9}, -1.5f};
    add_layer(cases, "pad_" + std::string(name_of(mode)) + "_far", {{1, 3, 2, 4}}, pad);
  }
}

/// Returns a transpose of (n, h, w, c), the order in memory: extent `order[i]` becomes number i.
Move transpose(const Shape& in, const std::array<int, 4>& order) {
  const std::array<std::int64_t, 4> sizes = {in.n, in.h, in.w, in.c};
  const std::array<std::int64_t, 4> strides = {in.h * in.w * in.c, in.w * in.c, in.c, 1};
  Move move;
  for (const int axis : order) move.dimensions.push_back({sizes[axis], strides[axis]});
  move.output = {sizes[order[0]], sizes[order[3]], sizes[order[1]], sizes[order[2]]};
  return move;
}

void add_transposes(Cases& cases) {
  std::array<int, 4> order = {0, 1, 2, 3};
  do {
    std::string name = "move_transpose_";
    for (const int axis : order) name += "nhwc"[axis];
    const Shape in{2, 5, 3, 4};
    add_layer(cases, name, {in}, transpose(in, order));
  } while (std::ranges::next_permutation(order).found);
  const Shape larger{1, 65, 2, 33};
  add_layer(cases, "move_transpose_larger", {larger}, transpose(larger, {0, 1, 3, 2}));
}

void add_moves(Cases& cases) {
  struct Case {
    const char* name;
    Shape input;
    Move move;
  };
  const Case list[] = {
      {"copy", {1, 5, 3, 4}, {{1, 5, 3, 4}, {{60, 1}}, 0}},
      {"reshape", {1, 6, 3, 4}, {{2, 9, 2, 2}, {{72, 1}}, 0}},
      {"channels_3_to_5", {2, 7, 2, 3}, {{2, 3, 2, 3}, {{12, 7}, {3, 1}}, 3}},
      {"rows_by_two", {1, 5, 6, 4}, {{1, 5, 3, 4}, {{3, 40}, {20, 1}}, 20}},
      {"every_third_channel", {1, 11, 2, 3}, {{1, 4, 2, 3}, {{6, 11}, {4, 3}}, 1}},
      {"mirrored", {1, 5, 2, 4}, {{1, 5, 2, 4}, {{2, 20}, {4, -5}, {5, 1}}, 15}},
      {"channels_backwards", {1, 5, 2, 4}, {{1, 5, 2, 4}, {{8, 5}, {5, -1}}, 4}},
      {"all_backwards", {2, 3, 2, 4}, {{2, 3, 2, 4}, {{48, -1}}, 47}},
      {"backwards_by_two", {1, 3, 1, 8}, {{1, 3, 1, 4}, {{4, -6}, {3, 1}}, 21}},
      {"expand_pixel", {1, 5, 1, 1}, {{2, 5, 3, 4}, {{24, 0}, {5, 1}}, 0}},
      {"expand_row", {1, 5, 1, 4}, {{1, 5, 3, 4}, {{3, 0}, {20, 1}}, 0}},
      {"expand_channel", {1, 1, 3, 4}, {{1, 7, 3, 4}, {{12, 1}, {7, 0}}, 0}},
      {"repeat_each_pixel", {1, 3, 2, 3}, {{1, 3, 4, 6}, {{2, 9}, {2, 0}, {3, 3}, {2, 0}, {3, 1}}}},
      {"one_value", {1, 5, 3, 4}, {{1, 1, 1, 1}, {{1, 0}}, 17}},
      {"channel_shuffle", {2, 12, 2, 3}, {{2, 12, 2, 3}, {{12, 12}, {4, 1}, {3, 4}}, 0}},
      // DepthToSpace of 3x3 blocks, DCR and CRD, and back.
      {"depth_to_space_dcr",
       {1, 18, 3, 5},
       {{1, 2, 9, 15}, {{1, 270}, {3, 90}, {3, 6}, {5, 18}, {3, 2}, {2, 1}}, 0}},
      {"depth_to_space_crd",
       {1, 18, 3, 5},
       {{1, 2, 9, 15}, {{1, 270}, {3, 90}, {3, 3}, {5, 18}, {3, 1}, {2, 9}}, 0}},
      {"space_to_depth",
       {2, 3, 4, 6},
       {{2, 12, 2, 3}, {{2, 72}, {2, 36}, {3, 6}, {2, 18}, {2, 3}, {3, 1}}, 0}},
      {"windows",
       {1, 4, 4, 6},
       {{4, 4, 2, 3}, {{1, 96}, {2, 48}, {2, 12}, {2, 24}, {3, 4}, {4, 1}}, 0}},
  };
  for (const Case& c : list) add_layer(cases, std::string("move_") + c.name, {c.input}, c.move);
}

void add_concats(Cases& cases) {
  struct Case {
    const char* name;
    Axis axis;
    std::vector<Shape> inputs;
  };
  const Case list[] = {
      {"n", Axis::kN, {{1, 5, 3, 4}, {2, 5, 3, 4}}},
      {"h", Axis::kH, {{2, 5, 3, 4}, {2, 5, 1, 4}, {2, 5, 2, 4}}},
      {"w", Axis::kW, {{2, 5, 3, 4}, {2, 5, 3, 1}, {2, 5, 3, 7}}},
      {"w_two_rows", Axis::kW, {{1, 17, 2, 1}, {1, 17, 2, 2}}},
      {"h_one_input", Axis::kH, {{1, 5, 3, 4}}},
  };
  for (const Case& c : list) {
    add_layer(cases, std::string("concat_on_") + c.name, c.inputs, Concat{c.axis});
  }
  for (const Axis axis : {Axis::kN, Axis::kH, Axis::kW}) {
    cases.push_back(make_operation("concat_same_tensor_twice_on_" + std::string(name_of(axis)),
                                   {Shape{2, 3, 2, 4}, Shape{2, 3, 2, 4}},
                                   [&](ModelBuilder& b, Inputs x) {
                                     b.add("layer", Concat{axis}, {x[0], x[1], x[0]});
                                   }));
  }
}

void add_gathers(Cases& cases) {
  // Indices of all rows, from both ends, and some that name no row.
  const auto add = [&](const char* name, const std::vector<Shape>& inputs, const Gather& gather,
                       float rows) {
    add_layer(cases, std::string("gather_") + name, inputs, gather, {-rows - 2, rows + 2});
  };
  add("rows", {{2, 1, 1, 17}}, {Shape{11, 7, 1, 1}}, 11);
  add("columns", {{1, 1, 1, 300}}, {Shape{5, 65, 1, 1}}, 5);
  add("pixels", {{2, 1, 4, 5}}, {Shape{2, 3, 4, 2}}, 16);
  add("several_channels", {{2, 6, 1, 5}}, {Shape{9, 4, 1, 1}}, 9);
  add("one_row", {{1, 1, 1, 6}}, {Shape{1, 8, 1, 1}}, 1);
  add("one_column", {{3, 2, 2, 2}}, {Shape{40, 1, 1, 1}}, 40);
  add("computed", {{2, 1, 3, 4}, {13, 6, 1, 1}}, {}, 13);
  add("computed_pixels", {{1, 2, 3, 4}, {2, 5, 2, 3}}, {}, 12);
}

void add_tops(Cases& cases) {
  for (const bool positions : {false, true}) {
    const auto add = [&](const std::string& name, const Shape& input, TopK top) {
      top.positions = positions;
      add_layer(cases, "top_" + name + (positions ? "_positions" : "_values"), {input}, top);
    };
    add("largest", {2, 50, 3, 4}, {7});
    add("smallest", {1, 33, 2, 5}, {5, false});
    add("all", {1, 40, 1, 3}, {40});
    add("of_one", {2, 1, 3, 3}, {1});
    add("long", {1, 1500, 1, 2}, {300});
  }
}

/// Adds one layer that reads its inputs in other shapes than their own.
void add_read_as(Cases& cases, const char* name, const std::vector<Shape>& inputs,
                 const LayerKind& kind, const std::vector<Shape>& read) {
  cases.push_back(
      make_operation(std::string("read_as_") + name, inputs, [&](ModelBuilder& b, Inputs x) {
        b.add("layer", kind, {x.begin(), x.end()}, read);
      }));
}

void add_other_shapes(Cases& cases) {
  const Shape image{2, 6, 4, 5};
  const Conv conv{7, {3, 3}, {1, 1}, {1, 1}};
  const Pool pool{Pool::Kind::kMax, {2, 2}, {1, 1}, {0, 0}};
  add_read_as(cases, "relu", {image}, Relu{}, {{1, 12, 1, 20}});
  add_read_as(cases, "unary", {image}, Unary{Unary::Function::kSilu}, {{1, 12, 1, 20}});
  add_read_as(cases, "conv", {image}, conv, {{1, 8, 5, 6}});
  add_read_as(cases, "depthwise", {image}, Conv{8, {3, 3}, {1, 1}, {1, 1}, 8}, {{1, 8, 5, 6}});
  add_read_as(cases, "pointwise", {image}, Conv{9, {1, 1}, {1, 1}, {0, 0}}, {{2, 120, 1, 1}});
  add_read_as(cases, "conv_transpose", {image}, ConvTranspose{5, {2, 2}, {2, 2}, {0, 0}},
              {{1, 8, 5, 6}});
  add_read_as(cases, "pool", {image}, pool, {{1, 8, 5, 6}});
  add_read_as(cases, "global_average", {image}, GlobalAveragePool{}, {{4, 3, 4, 5}});
  add_read_as(cases, "sum", {image, {1, 20, 2, 6}}, Sum{}, {image, image});
  add_read_as(cases, "concat", {{1, 6, 4, 5}, {1, 5, 2, 2}}, Concat{},
              {{1, 30, 4, 1}, {1, 5, 4, 1}});
  add_read_as(cases, "binary", {image, {2, 1, 2, 3}}, Binary{Binary::Function::kMul, {}, false},
              {image, {2, 6, 1, 1}});
  add_read_as(cases, "binary_constant", {image}, Binary{Binary::Function::kAdd, Shape{1, 12, 1, 1}},
              {{1, 12, 4, 5}});
  add_read_as(cases, "softmax", {image}, Softmax{{.c = true}}, {{4, 10, 1, 6}});
  add_read_as(cases, "reduce", {image}, Reduce{Reduce::Function::kMean, {.h = true}},
              {{2, 3, 8, 5}});
  add_read_as(cases, "normalization", {image},
              Normalization{{.c = true}, 0, 1e-5f, Shape{1, 10, 1, 1}, {}}, {{4, 10, 1, 6}});
  add_read_as(cases, "resize", {{1, 8, 3, 4}},
              Resize{.mode = Resize::Mode::kLinear, .size = {12, 8}, .scale_h = 2, .scale_w = 2},
              {{1, 4, 6, 4}});
  add_read_as(cases, "pad", {image}, Pad{Pad::Mode::kEdge, {0, 0, 1, 1}, {0, 0, 1, 0}, 0},
              {{1, 8, 5, 6}});
  add_read_as(cases, "move", {image}, transpose({1, 8, 5, 6}, {0, 2, 1, 3}), {{1, 8, 5, 6}});
  add_read_as(cases, "gather", {image}, Gather{Shape{3, 4, 1, 1}}, {{4, 1, 6, 10}});
  add_read_as(cases, "top", {image}, TopK{3, true, true}, {{4, 10, 1, 6}});
  add_read_as(cases, "matmul", {{1, 6, 4, 5}, {1, 5, 3, 4}}, MatMul{},
              {{1, 6, 2, 10}, {1, 5, 2, 6}});
}

}  // namespace

void add_arrangement_cases(Cases& cases) {
  add_pads(cases);
  add_transposes(cases);
  add_moves(cases);
  add_concats(cases);
  add_gathers(cases);
  add_tops(cases);
  add_other_shapes(cases);
}

}  // namespace hios::test
