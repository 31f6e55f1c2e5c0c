#include "hios/model/layer.h"
#include "hios/model/infer_shape.h"

#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/precision.h"
#include "support/message.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

Shape infer(const LayerKind& kind, const std::vector<Shape>& inputs) {
  return infer_shape(kind, inputs);
}

void expect_refused(const LayerKind& kind, const std::vector<Shape>& inputs,
                    const std::string& part) {
  expect_message(message_of([&] { infer(kind, inputs); }), part);
}

Conv conv(std::int64_t channels, Extent kernel, Extent stride = {}, Extent padding = {0, 0},
          std::int64_t groups = 1) {
  return {channels, kernel, stride, padding, groups, true};
}

TEST(Layer, SlidesAWindowAsWrittenOut) {
  // Every position of the window is tried, instead of the closed formula.
  for (std::int64_t size = 1; size <= 12; ++size) {
    for (std::int64_t kernel = 1; kernel <= 5; ++kernel) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t padding = 0; padding < kernel; ++padding) {
          std::int64_t positions = 0;
          for (std::int64_t at = -padding; at + kernel <= size + padding; at += stride) {
            ++positions;
          }
          SCOPED_TRACE(testing::Message() << "size " << size << " kernel " << kernel << " stride "
                                          << stride << " padding " << padding);
          const Pool pool{Pool::Kind::kMax, {kernel, 1}, {stride, 1}, {padding, 0}};
          const Shape in{2, 3, size, 5};
          if (positions == 0) {
            expect_refused(pool, {in}, "does not fit");
            continue;
          }
          EXPECT_EQ(infer(pool, {in}), (Shape{2, 3, positions, 5}));
          EXPECT_EQ(infer(conv(7, {1, kernel}, {1, stride}, {0, padding}), {{2, 3, 5, size}}),
                    (Shape{2, 7, 5, positions}));
        }
      }
    }
  }
}

TEST(Layer, InfersTheOtherShapes) {
  EXPECT_EQ(infer(GlobalAveragePool{}, {{2, 64, 7, 9}}), (Shape{2, 64, 1, 1}));
  EXPECT_EQ(infer(Relu{}, {{2, 64, 7, 9}}), (Shape{2, 64, 7, 9}));
  EXPECT_EQ(infer(Sum{}, {{1, 2, 3, 4}}), (Shape{1, 2, 3, 4}));
  EXPECT_EQ(infer(Sum{}, {{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}), (Shape{1, 2, 3, 4}));
  EXPECT_EQ(infer(Concat{}, {{1, 2, 3, 4}, {1, 5, 3, 4}}), (Shape{1, 7, 3, 4}));
}

TEST(Layer, RefusesImpossibleAttributes) {
  const Shape in{1, 6, 8, 8};
  expect_refused(conv(4, {9, 3}), {in}, "kernel 9x3 does not fit into its padded input 8x8");
  expect_refused(conv(4, {3, 3}, {1, 1}, {0, 0}, 4), {in},
                 "4 groups must divide 6 input and 4 output channels");
  expect_refused(conv(4, {3, 3}, {1, 1}, {0, 0}, 3), {in}, "3 groups must divide");
  expect_refused(conv(4, {3, 3}, {1, 1}, {0, 0}, 0), {in}, "at least one group");
  expect_refused(conv(0, {3, 3}), {in}, "output channels");
  expect_refused(conv(4, {0, 3}), {in}, "kernel 0x3");
  expect_refused(conv(4, {3, 3}, {1, 0}), {in}, "stride 1x0");
  expect_refused(conv(4, {3, 3}, {1, 1}, {-1, 0}), {in}, "padding -1x0");
  expect_refused(Pool{Pool::Kind::kAverage, {2, 2}, {1, 1}, {2, 0}}, {in}, "wholly in the padding");
  Pool dilated{Pool::Kind::kAverage, {2, 1}, {1, 1}, {1, 0}, {2, 1}};
  EXPECT_EQ(infer(dilated, {{1, 6, 2, 8}}), (Shape{1, 6, 2, 8}));
  expect_refused(dilated, {{1, 6, 1, 8}}, "dilated by 2x1, would pass over its input 1x8");
  expect_refused(Sum{}, {}, "sums nothing");
  expect_refused(Sum{}, {in, {1, 6, 8, 7}}, "cannot sum 1x6x8x8 and 1x6x8x7");
  expect_refused(Concat{}, {}, "concatenates nothing");
  expect_refused(Concat{}, {in, {1, 6, 8, 7}}, "cannot concatenate 1x6x8x8 and 1x6x8x7");
  expect_refused(Concat{}, {in, {2, 6, 8, 8}}, "cannot concatenate");
  expect_refused(Relu{}, {}, "takes one input, not 0");
  expect_refused(conv(4, {1, 1}), {in, in}, "takes one input, not 2");
  expect_refused(Relu{}, {{1, 0, 8, 8}}, "is empty");
}

/// Returns true if one of the windows along the width has no place within the input.
bool passes_over(const Pool& pool, std::int64_t size, std::int64_t windows) {
  for (std::int64_t window = 0; window < windows; ++window) {
    bool meets = false;
    for (std::int64_t tap = 0; tap < pool.kernel.w; ++tap) {
      const std::int64_t at = window * pool.stride.w - pool.padding.begin.w + tap * pool.dilation.w;
      meets = meets || (at >= 0 && at < size);
    }
    if (!meets) return true;
  }
  return false;
}

TEST(Layer, SlidesWindowsOfEverySort) {
  // Uneven padding, dilation and ceil, every position tried.
  for (std::int64_t size = 1; size <= 9; ++size) {
    for (std::int64_t kernel = 1; kernel <= 3; ++kernel) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
          const std::int64_t window = (kernel - 1) * dilation + 1, before = window / 2,
                             after = (window - 1) / 3;
          if (window > size + before + after) continue;
          std::int64_t floor = 0, ceil = 0;
          for (std::int64_t at = -before; at < size; at += stride) {
            const std::int64_t rest = size + after - at - window;
            floor += rest >= 0 ? 1 : 0;
            ceil += rest > -stride ? 1 : 0;  // the one before ended inside
          }
          SCOPED_TRACE(testing::Message() << "size " << size << " kernel " << kernel << " stride "
                                          << stride << " dilation " << dilation);
          Pool pool{Pool::Kind::kMax,          {1, kernel},   {1, stride},
                    {{0, before}, {0, after}}, {1, dilation}, false};
          for (const bool with_ceil : {false, true}) {
            const std::int64_t windows = with_ceil ? ceil : floor;
            pool.ceil = with_ceil;
            if (passes_over(pool, size, windows)) {
              expect_refused(pool, {{2, 3, 5, size}}, "pass over");
            } else {
              EXPECT_EQ(infer(pool, {{2, 3, 5, size}}).w, windows);
            }
          }
        }
      }
    }
  }
}

TEST(Layer, InfersTheShapesOfOnnxLayers) {
  const Shape in{2, 6, 5, 4};
  EXPECT_EQ(infer(ConvTranspose{9, {3, 4}, {2, 3}, {{1, 0}, {0, 2}}, {1, 0}, 3}, {in}),
            (Shape{2, 9, 4 * 2 + 3 + 1 - 1, 3 * 3 + 4 - 2}));
  EXPECT_EQ(infer(ConvTranspose{9, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 1, true, {3, 2}}, {in}),
            (Shape{2, 9, 8, 6}));
  EXPECT_EQ(infer(Unary{}, {in}), in);
  EXPECT_EQ(infer(Binary{Binary::Function::kMul, {}, false}, {{2, 1, 5, 1}, {1, 6, 1, 4}}), in);
  EXPECT_EQ(infer(Binary{Binary::Function::kMul, in, false}, {{1, 1, 1, 1}}), in);
  EXPECT_EQ(infer(Softmax{{.c = true}}, {in}), in);
  EXPECT_EQ(infer(Reduce{{}, {.n = true, .h = true}}, {in}), (Shape{1, 6, 1, 4}));
  EXPECT_EQ(infer(Normalization{{.h = true}, 3, 1e-5f, Shape{1, 6, 1, 1}, Shape{1, 1, 1, 4}}, {in}),
            in);
  EXPECT_EQ(infer(LocalResponseNormalization{99}, {in}), in);
  EXPECT_EQ(infer(Resize{.size = {7, 9}}, {in}), (Shape{2, 6, 7, 9}));
  EXPECT_EQ(infer(Pad{{}, {1, 0, 2, 0}, {0, 3, 0, 1}}, {in}), (Shape{3, 9, 7, 5}));
  EXPECT_EQ(infer(Move{{3, 1, 1, 2}, {{2, -1}, {3, 7}}, 1}, {in}), (Shape{3, 1, 1, 2}));
  EXPECT_EQ(infer(MatMul{}, {{2, 6, 1, 4}, {1, 7, 3, 6}}), (Shape{2, 7, 3, 4}));
  EXPECT_EQ(infer(MatMul{true}, {{2, 6, 1, 4}, {1, 6, 3, 7}}), (Shape{2, 7, 3, 4}));
  EXPECT_EQ(infer(Gather{Shape{9, 7, 2, 1}}, {in}), (Shape{2, 42, 5, 4}));
  EXPECT_EQ(infer(Gather{}, {{2, 1, 5, 4}, {9, 7, 2, 1}}), (Shape{2, 7, 5, 4}));
  EXPECT_EQ(infer(TopK{4}, {in}), (Shape{2, 4, 5, 4}));
  EXPECT_EQ(infer(Concat{Axis::kN}, {in, {1, 6, 5, 4}}), (Shape{3, 6, 5, 4}));
  EXPECT_EQ(infer(Concat{Axis::kH}, {in, {2, 6, 1, 4}}), (Shape{2, 6, 6, 4}));
  EXPECT_EQ(infer(Concat{Axis::kW}, {in, in}), (Shape{2, 6, 5, 8}));
}

TEST(Layer, RefusesOnnxLayersThatCannotBe) {
  const Shape in{2, 6, 5, 4};
  const Extent one{1, 1};
  expect_refused(ConvTranspose{9, one, one, {0, 0}, {0, 0}, 4}, {in}, "4 groups must divide");
  expect_refused(ConvTranspose{9, one, one, {3, 0}}, {in}, "is empty");
  expect_refused(ConvTranspose{9, one, one, {0, 0}, {0, -1}}, {in}, "output padding 0x-1");
  expect_refused(ConvTranspose{9, one, one, {0, 0}, {0, 0}, 1, true, {0, 1}}, {in}, "dilation 0x1");
  expect_refused(Binary{Binary::Function::kAdd, {}, false}, {in, {2, 5, 5, 4}},
                 "cannot combine 2x6x5x4 and 2x5x5x4: extents must be equal or 1");
  expect_refused(Binary{Binary::Function::kAdd, {}, false}, {in}, "takes two inputs, not 1");
  expect_refused(Binary{Binary::Function::kAdd, in, false}, {in, in}, "takes one input, not 2");
  expect_refused(Binary{Binary::Function::kAdd, Shape{0, 1, 1, 1}, false}, {in},
                 "its constant 0x1x1x1 is empty");
  expect_refused(Softmax{}, {in}, "needs at least one axis");
  expect_refused(Normalization{{}, 4, 1e-5f, {}, {}}, {in}, "its 4 groups must divide 6 channels");
  expect_refused(Normalization{{.c = true}, 3, 1e-5f, {}, {}}, {in},
                 "as a whole or in groups, not both");
  expect_refused(Normalization{{.c = true}, 0, 1e-5f, Shape{1, 5, 1, 1}, {}}, {in},
                 "cannot combine");
  expect_refused(Normalization{{.c = true}, 0, 1e-5f, {}, Shape{3, 6, 1, 1}}, {{1, 6, 5, 4}},
                 "its scale or bias 3x6x1x1 does not fit 1x6x5x4");
  expect_refused(LocalResponseNormalization{0}, {in}, "needs a size of at least 1");
  expect_refused(Resize{.size = {0, 4}}, {in}, "size 0x4");
  expect_refused(Resize{.size = {4, 4}, .scale_h = 0}, {in}, "needs scales above 0");
  expect_refused(Pad{Pad::Mode::kReflect, {0, 0, 5, 0}, {}}, {in}, "cannot reflect 5 values");
  expect_refused(Pad{{}, {0, 0, -1, 0}, {}}, {in}, "padding is outside 0");
  expect_refused(Move{{1, 1, 1, 3}, {{3, 1}}, 238}, {in}, "reads outside its input 2x6x5x4");
  expect_refused(Move{{1, 1, 1, 3}, {{3, -1}}, 1}, {in}, "reads outside");
  expect_refused(Move{{1, 1, 1, 3}, {{2, 1}}}, {in}, "moves other than the 3 values");
  expect_refused(Move{{1, 1, 1, 1}, {}}, {in}, "moves along 1 … 6 dimensions, not 0");
  expect_refused(Move{{1, 1, 1, 1}, std::vector<Move::Dimension>(7)}, {in}, "not 7");
  expect_refused(MatMul{}, {in, in}, "cannot multiply matrices");
  expect_refused(MatMul{true}, {in, {2, 6, 3, 4}}, "cannot combine");
  expect_refused(Gather{}, {in}, "takes two inputs, not 1");
  expect_refused(Gather{in}, {in, in}, "takes one input, not 2");
  expect_refused(Gather{Shape{0, 7, 1, 1}}, {in}, "its table 0x7x1x1 is empty");
  expect_refused(TopK{0}, {in}, "finds 0 of 6 values");
  expect_refused(TopK{7}, {in}, "finds 7 of 6 values");
  expect_refused(TopK{1, true, true}, {{1, (1 << 24) + 1, 1, 1}}, "positions beyond 2^24");
  expect_refused(Concat{Axis::kH}, {in, {2, 5, 5, 4}}, "on height");
}

TEST(Layer, RefusesSizesThatOverflow) {
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_refused(Relu{}, {{1, 1, huge, huge}}, "more than 2^40 values");
  expect_refused(Relu{}, {{1, 1 << 20, 1 << 20, 2}}, "more than 2^40 values");
  EXPECT_NO_THROW(infer(Relu{}, {{1, 1 << 20, 1 << 20, 1}}));
  const Extent wide{2147483647, 2147483647};
  expect_refused(conv(2147483647, wide, {1, 1}, wide), {{1, 1, 1, 1}},
                 "weights would hold more than 2^40 values");
}

TEST(Layer, CountsTwoOperationsAMultiplyAdd) {
  const std::vector<Shape> in{{2, 6, 5, 4}};
  const LayerKind grouped = conv(9, {3, 2}, {1, 1}, {1, 0}, 3);
  const Shape out = infer(grouped, in);
  double counted = 0;
  for (std::int64_t value = 0; value < out.elements(); ++value) counted += 2 * (6 / 3) * 3 * 2;
  EXPECT_EQ(flop(grouped, in, out), counted);
  EXPECT_EQ(flop(Relu{}, in, in.front()), 0);
  const std::vector<Shape> matrices{{1, 6, 3, 4}, {1, 7, 3, 6}};
  EXPECT_EQ(flop(MatMul{}, matrices, infer(MatMul{}, matrices)), 2 * 3 * 4 * 6 * 7);
  const LayerKind transposed = ConvTranspose{9, {3, 2}, {2, 2}, {0, 0}, {0, 0}, 3};
  EXPECT_EQ(flop(transposed, in, infer(transposed, in)), 2 * in.front().elements() * 3 * 3 * 2);
}

TEST(Layer, CountsWeightsAndBiases) {
  const std::vector<Shape> in{{2, 6, 5, 4}};
  Conv layer = conv(9, {3, 2}, {1, 1}, {1, 0}, 3);
  EXPECT_EQ(parameters(layer, in), 9 * 2 * 3 * 2 + 9);
  layer.bias = false;
  EXPECT_EQ(parameters(layer, in), 9 * 2 * 3 * 2);
  EXPECT_EQ(parameters(Concat{}, in), 0);
  EXPECT_EQ(parameters(ConvTranspose{9, {3, 2}, {1, 1}, {0, 0}, {0, 0}, 3}, in), 6 * 3 * 3 * 2 + 9);
  EXPECT_EQ(parameters(Binary{Binary::Function::kAdd, Shape{1, 6, 1, 1}, false}, in), 6);
  EXPECT_EQ(parameters(Gather{Shape{9, 7, 2, 1}}, in), 9 * 7 * 2);
  EXPECT_EQ(parameters(Gather{}, in), 0);
  const ParameterCounts counts = parameter_counts(
      Normalization{{.h = true}, 0, 1e-5f, Shape{1, 6, 1, 1}, Shape{1, 6, 5, 1}}, in);
  EXPECT_EQ(counts.weights, 6);
  EXPECT_EQ(counts.bias, 30);
}

TEST(Layer, DescribesItsTypeAndAttributes) {
  EXPECT_EQ(attributes_text(conv(64, {3, 1}, {2, 1}, {1, 0}, 2)), "Conv 64 k3x1 s2x1 p1x0 g2 b");
  Conv plain = conv(64, {3, 1});
  plain.bias = false;
  EXPECT_EQ(attributes_text(plain), "Conv 64 k3x1 s1x1 p0x0 g1");
  EXPECT_EQ(attributes_text(Pool{Pool::Kind::kMax, {3, 3}, {2, 2}, {1, 1}}),
            "MaxPool k3x3 s2x2 p1x1");
  EXPECT_EQ(attributes_text(Pool{Pool::Kind::kAverage, {3, 3}, {2, 2}, {1, 1}}),
            "AveragePool k3x3 s2x2 p1x1");
  EXPECT_EQ(attributes_text(GlobalAveragePool{}), "GlobalAveragePool");
  EXPECT_EQ(attributes_text(Relu{}), "Relu");
  EXPECT_EQ(attributes_text(Sum{}), "Sum");
  EXPECT_EQ(attributes_text(Concat{}), "Concat");
  EXPECT_EQ(attributes_text(Concat{Axis::kH}), "Concat h");
  plain.padding = {{0, 1}, {2, 3}};
  plain.dilation = {1, 2};
  EXPECT_EQ(attributes_text(plain), "Conv 64 k3x1 s1x1 p0x1+2x3 d1x2 g1");
  EXPECT_EQ(attributes_text(Unary{Unary::Function::kLeakyRelu, 0.1f, 0}), "LeakyRelu 0.1 0");
  EXPECT_EQ(attributes_text(Reduce{Reduce::Function::kMax, {.c = true, .w = true}}),
            "ReduceMax cw");
  EXPECT_EQ(attributes_text(Move{{1, 1, 1, 6}, {{2, 3}, {3, -1}}, 2}), "Move 1x1x1x6 2@3,3@-1 2");
}

TEST(Shape, CountsElementsAndBytes) {
  const Shape shape{1, 64, 35, 36};
  EXPECT_EQ(shape.to_string(), "1x64x35x36");
  EXPECT_EQ(shape.elements(), 80640);
  EXPECT_EQ(shape.size_bytes(element_bytes(Precision::kFp32)), 322560u);
}

}  // namespace
}  // namespace hios
