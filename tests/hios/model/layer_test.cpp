#include "hios/model/layer.h"

#include <vector>

#include <gtest/gtest.h>

#include "hios/base/precision.h"
#include "support/complaint.h"

namespace hios {
namespace {

using test::complaint_of;
using test::expect_complaint;

Shape infer(const LayerKind& kind, const std::vector<Shape>& inputs) {
  return infer_shape(kind, inputs);
}

void expect_refused(const LayerKind& kind, const std::vector<Shape>& inputs,
                    const std::string& part) {
  expect_complaint(complaint_of([&] { infer(kind, inputs); }), part);
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

TEST(Layer, RefusesWhatCannotBe) {
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
  expect_refused(Sum{}, {}, "sums nothing");
  expect_refused(Sum{}, {in, {1, 6, 8, 7}}, "cannot sum 1x6x8x8 and 1x6x8x7");
  expect_refused(Concat{}, {}, "concatenates nothing");
  expect_refused(Concat{}, {in, {1, 6, 8, 7}}, "cannot concatenate 1x6x8x8 and 1x6x8x7");
  expect_refused(Concat{}, {in, {2, 6, 8, 8}}, "cannot concatenate");
  expect_refused(Relu{}, {}, "takes one input, not 0");
  expect_refused(conv(4, {1, 1}), {in, in}, "takes one input, not 2");
  expect_refused(Relu{}, {{1, 0, 8, 8}}, "is empty");
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
}

TEST(Layer, CountsWeightsAndBiases) {
  const std::vector<Shape> in{{2, 6, 5, 4}};
  Conv layer = conv(9, {3, 2}, {1, 1}, {1, 0}, 3);
  EXPECT_EQ(parameters(layer, in), 9 * 2 * 3 * 2 + 9);
  layer.bias = false;
  EXPECT_EQ(parameters(layer, in), 9 * 2 * 3 * 2);
  EXPECT_EQ(parameters(Concat{}, in), 0);
}

TEST(Layer, SaysItsTypeAndAttributes) {
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
}

TEST(Shape, CountsElementsAndBytes) {
  const Shape shape{1, 64, 35, 36};
  EXPECT_EQ(shape.to_string(), "1x64x35x36");
  EXPECT_EQ(shape.elements(), 80640);
  EXPECT_EQ(shape.size_bytes(element_bytes(Precision::kFp32)), 322560u);
}

}  // namespace
}  // namespace hios
