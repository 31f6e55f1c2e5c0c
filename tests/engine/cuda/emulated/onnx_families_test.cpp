// Small networks of the families that ONNX files hold, on two emulated GPUs under mpirun: residual
// bottlenecks, inverted bottlenecks with gates, dense blocks, shuffled channels, a transformer of
// images, and a network with skips between resolutions. Each on one rank like plain loops, and on
// two with the bits of one, by a planned and a random schedule, recorded and not.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "engine/cuda/emulated/emulated_job.h"
#include "hios/onnx/read/import.h"
#include "support/layers/onnx_builder.h"

namespace hios::test {
namespace {

using Integers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// Adds layers; each function returns its output's name. Tests replace the values of weights, but
/// not those that a normalization folds.
class Layers {
 public:
  Layers() { b_.model.mutable_opset_import(0)->set_version(17); }

  std::string input(const Integers& dims) {
    b_.input("x", dims);
    return "x";
  }
  Model read(const std::string& output) {
    b_.output(output);
    return onnx::import_model(b_.write());
  }

  std::string conv(const std::string& x, std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t stride = 1, std::int64_t groups = 1) {
    const std::string weights = floats({out, in / groups, kernel, kernel}, 0.4f);
    const std::string bias = floats({out}, 0.1f);
    auto& node = b_.node("Conv", {x, weights, bias}, next());
    const std::int64_t pad = (kernel - 1) / 2;
    ints(node, "pads", {pad, pad, pad, pad});
    ints(node, "strides", {stride, stride});
    OnnxBuilder::attribute(node, "group", groups);
    return last();
  }
  std::string depthwise(const std::string& x, std::int64_t channels, std::int64_t stride = 1) {
    return conv(x, channels, channels, 3, stride, channels);
  }
  std::string normalize(const std::string& x, std::int64_t channels) {
    Names inputs{x};
    for (int i = 0; i < 3; ++i) inputs.push_back(floats({channels}, 0.2f));
    const std::string variance = next();
    b_.floats(variance, {channels}, std::vector<float>(static_cast<std::size_t>(channels), 0.9f));
    inputs.push_back(variance);
    return node("BatchNormalization", inputs);
  }
  std::string node(const std::string& type, const Names& inputs) {
    b_.node(type, inputs, next());
    return last();
  }
  std::string relu(const std::string& x) { return node("Relu", {x}); }
  std::string with_axes(const std::string& type, const Names& inputs, const std::string& name,
                        const Integers& values) {
    ints(b_.node(type, inputs, next()), name, values);
    return last();
  }
  std::string with_axis(const std::string& type, const Names& inputs, std::int64_t axis) {
    OnnxBuilder::attribute(b_.node(type, inputs, next()), "axis", axis);
    return last();
  }
  std::string pool(const std::string& type, const std::string& x) {
    auto& node = b_.node(type, {x}, next());
    ints(node, "kernel_shape", {2, 2});
    ints(node, "strides", {2, 2});
    return last();
  }
  std::string reshape(const std::string& x, const Integers& dims) {
    return node("Reshape", {x, integers(dims)});
  }
  /// Channels from `begin` to `end`.
  std::string channels(const std::string& x, std::int64_t begin, std::int64_t end) {
    return node("Slice", {x, integers({begin}), integers({end}), integers({1})});
  }
  std::string product(const std::string& x, std::int64_t in, std::int64_t out) {
    const std::string sum = node("MatMul", {x, floats({in, out}, 0.3f)});
    return node("Add", {sum, floats({out}, 0.1f)});
  }
  std::string gelu(const std::string& x) {
    const std::string error = node("Erf", {node("Div", {x, scalar(std::sqrt(2.0f))})});
    return node("Mul", {node("Mul", {x, node("Add", {error, scalar(1)})}), scalar(0.5f)});
  }
  std::string classes(const std::string& x, std::int64_t channels) {
    const std::string flat = node("Flatten", {node("GlobalAveragePool", {x})});
    return node("Softmax", {node("Gemm", {flat, floats({channels, 5}, 0.3f), floats({5}, 0.1f)})});
  }

  std::string floats(const Integers& dims, float scale) {
    std::size_t count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
    std::vector<float> values;
    while (values.size() < count) {
      values.push_back(scale * std::sin(1.7f * static_cast<float>(values.size() + count)));
    }
    b_.floats(next(), dims, values);
    return last();
  }

 private:
  std::string scalar(float value) {
    b_.floats(next(), {}, {value});
    return last();
  }
  std::string integers(const Integers& values) {
    b_.integers(next(), values);
    return last();
  }
  static void ints(proto::NodeProto& node, const std::string& name, const Integers& values) {
    OnnxBuilder::attribute(node, name, values);
  }
  std::string next() {
    ++count_;
    return last();
  }
  std::string last() const { return "t" + std::to_string(count_); }

  OnnxBuilder b_;
  int count_ = 0;
};

/// Bottlenecks, the first with a projection.
Model residual() {
  Layers l;
  std::string x = l.relu(l.normalize(l.conv(l.input({1, 3, 16, 16}), 3, 8, 3), 8));
  std::int64_t width = 8;
  for (const std::int64_t stride : {2, 1}) {
    std::string y = l.relu(l.normalize(l.conv(x, width, 4, 1), 4));
    y = l.relu(l.normalize(l.conv(y, 4, 4, 3, stride), 4));
    y = l.normalize(l.conv(y, 4, 16, 1), 16);
    const std::string shortcut = width == 16 ? x : l.normalize(l.conv(x, width, 16, 1, stride), 16);
    x = l.relu(l.node("Add", {y, shortcut}));
    width = 16;
  }
  return l.read(l.classes(x, 16));
}

/// Inverted bottlenecks with a gate.
Model mobile() {
  Layers l;
  std::string x = l.node("HardSwish", {l.conv(l.input({1, 3, 16, 16}), 3, 8, 3, 2)});
  for (int block = 0; block < 2; ++block) {
    std::string y = l.node("HardSwish", {l.conv(x, 8, 24, 1)});
    y = l.node("HardSwish", {l.depthwise(y, 24)});
    const std::string mean = l.node("GlobalAveragePool", {y});
    const std::string gate = l.conv(l.relu(l.conv(mean, 24, 8, 1)), 8, 24, 1);
    y = l.node("Mul", {y, l.node("HardSigmoid", {gate})});
    x = l.node("Add", {l.conv(y, 24, 8, 1), x});
  }
  return l.read(l.classes(x, 8));
}

/// A dense block, whose layers read all before them, and a transition.
Model dense() {
  Layers l;
  std::string x = l.conv(l.input({1, 3, 16, 16}), 3, 8, 3);
  std::int64_t width = 8;
  for (int layer = 0; layer < 3; ++layer, width += 4) {
    const std::string narrow = l.conv(l.relu(l.normalize(x, width)), width, 8, 1);
    const std::string grown = l.conv(l.relu(l.normalize(narrow, 8)), 8, 4, 3);
    x = l.with_axis("Concat", {x, grown}, 1);
  }
  x = l.pool("AveragePool", l.conv(l.relu(l.normalize(x, width)), width, 10, 1));
  return l.read(l.classes(x, 10));
}

/// Half of the channels pass; then both halves are mixed.
Model shuffled() {
  Layers l;
  std::string x = l.relu(l.conv(l.input({1, 3, 16, 16}), 3, 16, 3, 2));
  for (int unit = 0; unit < 2; ++unit) {
    std::string y = l.relu(l.conv(l.channels(x, 8, 16), 8, 8, 1));
    y = l.relu(l.conv(l.depthwise(y, 8), 8, 8, 1));
    x = l.with_axis("Concat", {l.channels(x, 0, 8), y}, 1);
    x = l.with_axes("Transpose", {l.reshape(x, {1, 2, 8, 8, 8})}, "perm", {0, 2, 1, 3, 4});
    x = l.reshape(x, {1, 16, 8, 8});
  }
  return l.read(l.classes(x, 16));
}

/// A layer of a transformer over patches, two heads.
Model transformer() {
  constexpr std::int64_t kTokens = 16, kWidth = 12, kHead = 6;
  Layers l;
  const std::string image = l.input({1, 3, 16, 16});
  std::string x = l.pool("AveragePool", l.conv(image, 3, kWidth, 3, 2));
  x = l.with_axes("Transpose", {l.reshape(x, {1, kWidth, kTokens})}, "perm", {0, 2, 1});
  x = l.node("Add", {x, l.floats({1, kTokens, kWidth}, 0.2f)});
  const auto layer_norm = [&](const std::string& y) {
    return l.node("LayerNormalization", {y, l.floats({kWidth}, 1), l.floats({kWidth}, 0.1f)});
  };
  const auto heads = [&](const std::string& y, const Integers& order) {
    const std::string parts = l.reshape(l.product(y, kWidth, kWidth), {1, kTokens, 2, kHead});
    return l.with_axes("Transpose", {parts}, "perm", order);
  };
  const std::string even = layer_norm(x);
  const std::string scores =
      l.node("MatMul", {heads(even, {0, 2, 1, 3}), heads(even, {0, 2, 3, 1})});
  const std::string shares = l.with_axis("Softmax", {scores}, -1);
  std::string y = l.node("MatMul", {shares, heads(even, {0, 2, 1, 3})});
  y = l.reshape(l.with_axes("Transpose", {y}, "perm", {0, 2, 1, 3}), {1, kTokens, kWidth});
  x = l.node("Add", {x, l.product(y, kWidth, kWidth)});
  const std::string wide = l.gelu(l.product(layer_norm(x), kWidth, 24));
  x = l.node("Add", {x, l.product(wide, 24, kWidth)});
  return l.read(l.with_axes("ReduceMean", {layer_norm(x)}, "axes", {1}));
}

/// Down, up, and the features of each resolution joined.
Model skips() {
  Layers l;
  const std::string high = l.relu(l.conv(l.input({1, 3, 16, 16}), 3, 6, 3));
  const std::string middle = l.relu(l.conv(l.pool("MaxPool", high), 6, 8, 3));
  std::string x = l.relu(l.conv(l.pool("MaxPool", middle), 8, 12, 3));
  x = l.with_axes("ConvTranspose", {x, l.floats({12, 8, 2, 2}, 0.4f)}, "strides", {2, 2});
  x = l.relu(l.conv(l.with_axis("Concat", {middle, x}, 1), 16, 8, 3));
  x = l.with_axes("ConvTranspose", {x, l.floats({8, 6, 2, 2}, 0.4f)}, "strides", {2, 2});
  x = l.relu(l.conv(l.with_axis("Concat", {high, x}, 1), 12, 6, 3));
  return l.read(l.node("Sigmoid", {l.conv(x, 6, 2, 1)}));
}

struct Family {
  const char* name;
  Model (*make)();
};

class EmulatedFamilies : public testing::TestWithParam<std::tuple<Family, const char*>> {};

TEST_P(EmulatedFamilies, GiveTheReferencesValuesAndOnTwoRanksTheBitsOfOne) {
  const auto& [family, route] = GetParam();
  expect_as_one_rank(emulated_job(mpi::parse_route(route)), family.make());
}

INSTANTIATE_TEST_SUITE_P(
    Onnx, EmulatedFamilies,
    testing::Combine(testing::Values(Family{"residual", residual}, Family{"mobile", mobile},
                                     Family{"dense", dense}, Family{"shuffled", shuffled},
                                     Family{"transformer", transformer}, Family{"skips", skips}),
                     testing::ValuesIn(kEmulatedRoutes)),
    [](const auto& pair) {
      return std::string(std::get<0>(pair.param).name) + "_by_" +
             word_of_route(std::get<1>(pair.param));
    });

}  // namespace
}  // namespace hios::test
