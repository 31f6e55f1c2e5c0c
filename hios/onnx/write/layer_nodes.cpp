// Writes each kind of layer as an ONNX node, mostly of the same name and attributes. Opset 14 lacks
// some functions. A layer that would need several nodes is refused (except x·sigmoid(x), which
// every exporter writes so): whoever runs the file runs the same layers. Tests:
// tests/engine/onnx/export_test.cpp.
#include "hios/onnx/write/layer_nodes.h"

#include <cmath>
#include <type_traits>

#include "hios/model/layer_fields.h"
#include "hios/onnx/operators/elementwise.h"

namespace hios::onnx {
namespace {

using Dims = std::vector<std::int64_t>;

Dims axes_of(const Axes& axes) {
  Dims list;
  if (axes.n) list.push_back(0);
  if (axes.c) list.push_back(1);
  if (axes.h) list.push_back(2);
  if (axes.w) list.push_back(3);
  return list;
}

bool per_channel(const std::optional<Shape>& shape, std::int64_t channels) {
  return shape && *shape == Shape{1, channels, 1, 1};
}

/// Names the property of a layer that opset 14 cannot express; "" if there is none.
struct Inexpressible {
  const Layer& layer;

  std::string operator()(const Pool& pool) const {
    const bool dilated = pool.kind == Pool::Kind::kAverage && pool.dilation != Extent{};
    return dilated ? "AveragePool with dilation" : "";
  }
  std::string operator()(const Unary& unary) const {
    const bool known = unary.function == Unary::Function::kSilu ||
                       unary.function == Unary::Function::kClip ||
                       unary_spelling(unary.function, kWrittenOpset) != nullptr;
    return known ? "" : std::string(name_of(unary.function));
  }
  std::string operator()(const Binary& binary) const {
    const bool first = binary.function == Binary::Function::kPRelu && binary.constant_first;
    // ONNX's comparisons give truth values, which further nodes would have to cast.
    if (binary.function >= Binary::Function::kEqual) return std::string(name_of(binary.function));
    return first ? "PRelu of a constant" : "";
  }
  std::string operator()(const Softmax& softmax) const {
    return axes_of(softmax.axes).size() == 1 ? "" : "Softmax over several axes";
  }
  std::string operator()(const Reduce& reduce) const {
    return reduce.axes == Axes{} ? "a reduction over no axis" : "";
  }
  std::string operator()(const Normalization& norm) const {
    const std::int64_t channels = layer.input_shapes.front().c;
    const bool instances = norm.axes == Axes{.h = true, .w = true} && norm.groups == 0 &&
                           per_channel(norm.scale, channels) && per_channel(norm.bias, channels);
    return instances ? "" : "Normalization other than InstanceNormalization";
  }
  std::string operator()(const Resize& resize) const {
    const bool removed = resize.coordinates == Resize::Coordinates::kTfHalfPixel,
               later = resize.coordinates == Resize::Coordinates::kHalfPixelSymmetric;
    if (removed || later) return "Resize by " + std::string(name_of(resize.coordinates));
    // ONNX and ONNX Runtime differ for extents that are no whole numbers.
    const Shape& in = layer.input_shapes.front();
    const auto whole = [](std::int64_t from, double scale, std::int64_t to) {
      return std::fabs(static_cast<double>(from) * scale - static_cast<double>(to)) <= 1e-4;
    };
    const bool aligned =
        resize.coordinates != Resize::Coordinates::kAlignCorners ||
        (whole(in.h, resize.scale_h, resize.size.h) && whole(in.w, resize.scale_w, resize.size.w));
    return aligned ? "" : "Resize that aligns corners of no whole extent";
  }
  std::string operator()(const Pad& pad) const {
    return pad.mode == Pad::Mode::kWrap ? "Pad by wrap" : "";
  }
  std::string operator()(const Move&) const { return "Move"; }
  std::string operator()(const auto&) const { return ""; }
};

/// Adds the nodes of a layer, by its kind.
struct LayerNodes {
  GraphMaker& graph;
  const Model& model;
  const Layer& layer;
  const std::vector<std::string>& inputs;
  const std::string& output;
  ModelWeights::Values& values;

  NodeMaker node(std::string_view type, const std::vector<std::string>& all) const {
    return graph.node(type, layer.name, all, output);
  }
  NodeMaker node(std::string_view type) const { return node(type, inputs); }
  const Shape& out() const { return model.tensor(layer.output).shape; }

  template <class Windowed>
  void window(NodeMaker& made, const Windowed& kind) const {
    made.set("kernel_shape", Dims{kind.kernel.h, kind.kernel.w})
        .set("strides", Dims{kind.stride.h, kind.stride.w})
        .set("pads", Dims{kind.padding.begin.h, kind.padding.begin.w, kind.padding.end.h,
                          kind.padding.end.w});
    if (kind.dilation != Extent{}) made.set("dilations", Dims{kind.dilation.h, kind.dilation.w});
  }

  template <class Convolution>
  NodeMaker convolution(std::string_view type, const Convolution& conv, std::int64_t first,
                        std::int64_t second) const {
    std::vector<std::string> all = inputs;
    all.push_back(graph.floats(layer.name + "_weight",
                               {first, second, conv.kernel.h, conv.kernel.w}, values.weights));
    if (conv.bias) {
      all.push_back(graph.floats(layer.name + "_bias", {conv.out_channels}, values.bias));
    }
    NodeMaker made = node(type, all);
    window(made, conv);
    return made.set("group", conv.groups);
  }

  void operator()(const Conv& conv) const {
    convolution("Conv", conv, conv.out_channels, layer.input_shapes.front().c / conv.groups);
  }
  void operator()(const ConvTranspose& conv) const {
    convolution("ConvTranspose", conv, layer.input_shapes.front().c,
                conv.out_channels / conv.groups)
        .set("output_padding", Dims{conv.output_padding.h, conv.output_padding.w});
  }
  void operator()(const Pool& pool) const {
    NodeMaker made = node(onnx_type(pool));
    window(made, pool);
    if (pool.ceil) made.set("ceil_mode", std::int64_t{1});
    if (pool.count_padding) made.set("count_include_pad", std::int64_t{1});
  }
  void operator()(const Concat& concat) const {
    static constexpr std::int64_t kAxes[] = {0, 1, 2, 3};  // Axis in ONNX's order
    node("Concat").set("axis", kAxes[static_cast<std::size_t>(concat.axis)]);
  }
  void operator()(const Unary& unary) const {
    if (unary.function == Unary::Function::kSilu) {
      node("Mul", {inputs[0], graph.helper("Sigmoid", layer.name + "_sigmoid", inputs)});
      return;
    }
    if (unary.function == Unary::Function::kClip) {
      node("Clip", {inputs[0], graph.floats(layer.name + "_min", {}, {&unary.alpha, 1}),
                    graph.floats(layer.name + "_max", {}, {&unary.beta, 1})});
      return;
    }
    const UnarySpelling& spelling = *unary_spelling(unary.function, kWrittenOpset);
    NodeMaker made = node(spelling.type);
    if (spelling.alpha) made.set(spelling.alpha, unary.alpha);
    if (spelling.beta) made.set(spelling.beta, unary.beta);
  }
  void operator()(const Binary& binary) const {
    std::vector<std::string> all = inputs;
    if (binary.constant) {
      const Dims dims = dims_of(*binary.constant);
      const std::string constant = graph.floats(
          layer.name + "_constant", dims, in_row_major_order(std::move(values.weights), dims));
      all.insert(binary.constant_first ? all.begin() : all.end(), constant);
    }
    node(name_of(binary.function), all);
  }
  void operator()(const Softmax& softmax) const {
    node(softmax.log ? "LogSoftmax" : "Softmax").set("axis", axes_of(softmax.axes).front());
  }
  void operator()(const Reduce& reduce) const {
    if (reduce.function == Reduce::Function::kSum) {  // its axes are an input since opset 13
      node("ReduceSum", {inputs[0], graph.integers(layer.name + "_axes", axes_of(reduce.axes))});
      return;
    }
    node(name_of(reduce.function)).set("axes", axes_of(reduce.axes));
  }
  void operator()(const Normalization& norm) const {
    const Dims dims{layer.input_shapes.front().c};
    node("InstanceNormalization",
         {inputs[0], graph.floats(layer.name + "_scale", dims, values.weights),
          graph.floats(layer.name + "_bias", dims, values.bias)})
        .set("epsilon", norm.epsilon);
  }
  void operator()(const LocalResponseNormalization& norm) const {
    node("LRN")
        .set("size", norm.size)
        .set("alpha", norm.alpha)
        .set("beta", norm.beta)
        .set("bias", norm.bias);
  }
  /// Writes sizes if they determine the scales, else scales.
  void operator()(const Resize& resize) const {
    const Shape& in = layer.input_shapes.front();
    const auto follows = [](std::int64_t from, double scale, std::int64_t to) {
      return scale == static_cast<double>(to) / static_cast<double>(from);
    };
    std::vector<std::string> all = {inputs[0], ""};
    if (follows(in.h, resize.scale_h, resize.size.h) &&
        follows(in.w, resize.scale_w, resize.size.w)) {
      all.push_back("");
      all.push_back(graph.integers(layer.name + "_sizes", dims_of(out())));
    } else {
      const float scales[] = {1, 1, static_cast<float>(resize.scale_h),
                              static_cast<float>(resize.scale_w)};
      all.push_back(graph.floats(layer.name + "_scales", {4}, scales));
    }
    node("Resize", all)
        .set("mode", name_of(resize.mode))
        .set("coordinate_transformation_mode", name_of(resize.coordinates))
        .set("nearest_mode", name_of(resize.nearest))
        .set("cubic_coeff_a", resize.cubic_a)
        .set("exclude_outside", std::int64_t{resize.exclude_outside});
  }
  void operator()(const Pad& pad) const {
    const Dims pads = {pad.begin.n, pad.begin.c, pad.begin.h, pad.begin.w,
                       pad.end.n,   pad.end.c,   pad.end.h,   pad.end.w};
    node("Pad", {inputs[0], graph.integers(layer.name + "_pads", pads),
                 graph.floats(layer.name + "_value", {}, {&pad.value, 1})})
        .set("mode", name_of(pad.mode));
  }
  /// Transposes, since ONNX multiplies over the last two axes.
  void operator()(const MatMul& matmul) const {
    const std::string left = graph.transposed(inputs[0], {0, 2, 3, 1});
    const std::string right =
        graph.transposed(inputs[1], matmul.transpose_right ? Dims{0, 2, 1, 3} : Dims{0, 2, 3, 1});
    const std::string product = graph.fresh(layer.name + "_rows");
    graph.node("MatMul", layer.name, {left, right}, product);
    graph.node("Transpose", layer.name + "_transposed", {product}, output)
        .set("perm", Dims{0, 3, 1, 2});
  }
  /// Gathers rows, after a cast of the indices, and makes them channels: (N, C, H, W, columns) to
  /// (N, C, columns, H, W).
  void operator()(const Gather& gather) const {
    const Shape& indices = layer.input_shapes.front();
    const std::int64_t columns = out().c / indices.c;
    const Shape& source = gather.table ? *gather.table : layer.input_shapes[1];
    const Dims dims{source.elements() / columns, columns};
    const std::string table = gather.table
                                  ? graph.floats(layer.name + "_table", dims, values.weights)
                                  : graph.reshaped(graph.transposed(inputs[1], {0, 2, 3, 1}), dims);
    const std::string at = graph.fresh(layer.name + "_indices");
    graph.node("Cast", at, {inputs[0]}, at).set("to", std::int64_t{proto::TensorProto::INT64});
    const std::string rows = graph.fresh(layer.name + "_rows");
    graph.node("Gather", layer.name, {table, at}, rows).set("axis", std::int64_t{0});
    const std::string shape = graph.integers(layer.name + "_shape", dims_of(out()));
    graph.node("Reshape", layer.name + "_channels",
               {graph.transposed(rows, {0, 1, 4, 2, 3}), shape}, output);
  }
  /// Writes the output that the layer does not have, too: TopK has both.
  void operator()(const TopK& top) const {
    const std::vector<std::string> all{inputs[0], graph.integers(layer.name + "_k", {top.k})};
    const std::string positions = graph.fresh(layer.name + "_positions");
    const std::string found = top.positions ? graph.fresh(layer.name + "_values") : output;
    graph.node("TopK", layer.name, all, found)
        .output(positions)
        .set("axis", std::int64_t{1})
        .set("largest", std::int64_t{top.largest});
    if (!top.positions) return;
    graph.node("Cast", layer.name + "_floats", {positions}, output)
        .set("to", std::int64_t{proto::TensorProto::FLOAT});
  }
  void operator()(const Move&) const {}  // refused by Inexpressible
  /// Writes a node without attributes: GlobalAveragePool, Relu, Sum.
  void operator()(const auto& kind) const { node(onnx_type(kind)); }
};

}  // namespace

std::string inexpressible(const Layer& layer) {
  return std::visit(Inexpressible{layer}, layer.kind);
}

void write_layer(GraphMaker& graph, const Model& model, const Layer& layer,
                 const std::vector<std::string>& inputs, const std::string& output,
                 ModelWeights::Values values) {
  std::visit(LayerNodes{graph, model, layer, inputs, output, values}, layer.kind);
}

}  // namespace hios::onnx
