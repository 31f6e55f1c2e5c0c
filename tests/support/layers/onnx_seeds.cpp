#include "support/layers/onnx_seeds.h"

#include "support/layers/onnx_builder.h"

namespace hios::test {
namespace {

using Integers = std::vector<std::int64_t>;

void convolutions(OnnxBuilder& b) {
  b.input("x", {1, 4, 6, 6});
  b.floats("w", {4, 4, 3, 3}, std::vector<float>(144, 0.1f));
  b.floats("bias", {4}, {1, 2, 3, 4});
  auto& conv = b.node("Conv", {"x", "w", "bias"}, "c");
  OnnxBuilder::attribute(conv, "pads", Integers{1, 0, 1, 2});
  OnnxBuilder::attribute(conv, "strides", Integers{2, 1});
  b.floats("one", {4}, {1, 1, 1, 1});
  b.node("BatchNormalization", {"c", "one", "one", "one", "one"}, "n");
  b.node("Sigmoid", {"n"}, "s");
  b.node("Mul", {"n", "s"}, "g");
  auto& pool = b.node("AveragePool", {"g"}, "p");
  OnnxBuilder::attribute(pool, "kernel_shape", Integers{2, 2});
  OnnxBuilder::attribute(pool, "ceil_mode", 1);
  b.output("p");
}

void moves(OnnxBuilder& b) {
  b.input("x", {1, 4, 6, 6});
  b.integers("apart", {1, 2, 2, 6, 6});
  b.integers("together", {1, 4, -1});
  b.node("Reshape", {"x", "apart"}, "five");
  OnnxBuilder::attribute(b.node("Transpose", {"five"}, "turned"), "perm", Integers{0, 2, 1, 3, 4});
  b.node("Reshape", {"turned", "together"}, "flat");
  b.integers("start", {5}), b.integers("end", {-100}), b.integers("axis", {2}),
      b.integers("step", {-2});
  b.node("Slice", {"flat", "start", "end", "axis", "step"}, "part");
  b.node("Shape", {"part"}, "shape");
  b.integers("zero", {0});
  b.node("Gather", {"shape", "zero"}, "first");
  b.integers("rest", {-1});
  OnnxBuilder::attribute(b.node("Concat", {"first", "rest"}, "wanted"), "axis", 0);
  b.node("Reshape", {"part", "wanted"}, "row");
  b.node("Softmax", {"row"}, "out");
  b.output("out");
  b.output("part");
}

void classifier(OnnxBuilder& b) {
  b.input("x", {2, 5, 3});
  b.floats("m", {3, 4}, std::vector<float>(12, 0.5f));
  b.node("MatMul", {"x", "m"}, "y");
  b.floats("shift", {4}, {1, 2, 3, 4});
  b.node("Add", {"y", "shift"}, "z");
  auto& mean = b.node("ReduceMean", {"z"}, "mean");
  OnnxBuilder::attribute(mean, "axes", Integers{1});
  OnnxBuilder::attribute(mean, "keepdims", 0);
  b.node("Erf", {"mean"}, "out");
  b.output("out");
}

}  // namespace

std::vector<std::string> onnx_seeds() {
  std::vector<std::string> seeds;
  for (const auto build : {convolutions, moves, classifier}) {
    OnnxBuilder b;
    build(b);
    seeds.push_back(b.model.SerializeAsString());
  }
  return seeds;
}

}  // namespace hios::test
