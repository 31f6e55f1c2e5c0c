// The layer kinds of ONNX files by hand; numbers with many digits come from the examples in the
// ONNX operator documentation.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/reference/by_hand.h"
#include "hios/base/numbers/half.h"

namespace hios {
namespace {

using test::FixedSource;
using test::Floats;
using test::make_operation;
using test::OperationCase;
using test::reference_in;
using test::run;
using Inputs = std::span<const TensorId>;

OperationCase layer_case(const std::vector<Shape>& inputs, const LayerKind& kind) {
  return make_operation("layer", inputs, [&](ModelBuilder& b, Inputs x) {
    b.add("layer", kind, {x.begin(), x.end()});
  });
}

Floats run_layer(const Shape& input, const LayerKind& kind, const Floats& values,
                 FixedSource source = {}) {
  return run(layer_case({input}, kind), {values}, std::move(source));
}

void expect_near(const Floats& values, const Floats& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], 1e-6 + 1e-6 * std::abs(expected[i])) << "element " << i;
  }
}

/// Returns first, first + 1, ….
Floats counted(std::size_t count, float first = 1) {
  Floats values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(LayerByHand, ConvDilatedAndPaddedUnevenly) {
  const Conv dilated{1, {1, 2}, {1, 1}, {0, 0}, 1, false, {1, 2}};
  EXPECT_EQ(run_layer({1, 1, 1, 4}, dilated, {1, 2, 3, 4}, {{1, 10}, {}}), (Floats{31, 42}));
  const Conv padded{1, {1, 2}, {1, 1}, {Extent{0, 1}, Extent{1, 0}}, 1, false};
  // A column of zeros on the left, and a row of them below.
  EXPECT_EQ(run_layer({1, 1, 1, 3}, padded, {1, 2, 3}, {{1, 10}, {}}),
            (Floats{10, 21, 32, 0, 0, 0}));
}

TEST(LayerByHand, ConvTransposeSpreadsItsInput) {
  const ConvTranspose plain{2, {3, 3}, {1, 1}, {0, 0}, {0, 0}, 1, false};
  const Floats sums = {0,  1,  3, 3,  2,  3,  8,  15, 12, 7,  9,  21, 36,
                       27, 15, 9, 20, 33, 24, 13, 6,  13, 21, 15, 8};
  Floats expected;
  for (const float sum : sums) expected.insert(expected.end(), {sum, sum});
  EXPECT_EQ(run_layer({1, 1, 3, 3}, plain, counted(9, 0), {Floats(18, 1), {}}), expected);

  const ConvTranspose dilated{1, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 1, false, {2, 2}};
  EXPECT_EQ(run_layer({1, 1, 3, 3}, dilated, {3, 8, 1, 9, 5, 7, 3, 2, 6}, {{7, 2, 1, 9}, {}}),
            (Floats{21, 56, 13, 16, 2,  63, 35, 67, 10, 14, 24, 22, 76,
                    76, 21, 9,  5,  88, 45, 63, 3,  2,  33, 18, 54}));
}

TEST(LayerByHand, ConvTransposeStridesPaddingAndGroups) {
  // Without padding: 1 10 2 20 3 30 and a column of output padding.
  const ConvTranspose strided{1, {1, 2}, {1, 2}, {0, 0}, {0, 1}, 1, true};
  EXPECT_EQ(run_layer({1, 1, 1, 3}, strided, {1, 2, 3}, {{1, 10}, {0.5f}}),
            (Floats{1.5f, 10.5f, 2.5f, 20.5f, 3.5f, 30.5f, 0.5f}));
  const ConvTranspose padded{1, {1, 2}, {1, 2}, {Extent{0, 2}, Extent{0, 1}}, {0, 0}, 1, false};
  EXPECT_EQ(run_layer({1, 1, 1, 3}, padded, {1, 2, 3}, {{1, 10}, {}}), (Floats{2, 20, 3}));
  // Channels 0 and 1 give 0 and 1, channels 2 and 3 give 2 and 3; weights are ordered by input
  // channel.
  const ConvTranspose grouped{4, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 2, false};
  EXPECT_EQ(run_layer({1, 4, 1, 1}, grouped, {1, 10, 100, 1000}, {{1, 2, 3, 4, 5, 6, 7, 8}, {}}),
            (Floats{31, 42, 7500, 8600}));
}

TEST(LayerByHand, PoolsWithCeilDilationAndCountedPadding) {
  Pool pool{Pool::Kind::kMax, {3, 3}, {2, 2}, {0, 0}, {1, 1}, true};
  EXPECT_EQ(run_layer({1, 1, 4, 4}, pool, counted(16)), (Floats{11, 12, 15, 16}));
  pool.kind = Pool::Kind::kAverage;
  EXPECT_EQ(run_layer({1, 1, 4, 4}, pool, counted(16)), (Floats{6, 7.5f, 12, 13.5f}));
  const Pool dilated{Pool::Kind::kMax, {2, 2}, {1, 1}, {0, 0}, {2, 2}};
  EXPECT_EQ(run_layer({1, 1, 4, 4}, dilated, counted(16)), (Floats{11, 12, 15, 16}));
  Pool padded{Pool::Kind::kAverage, {5, 5}, {1, 1}, {2, 2}, {1, 1}, false, true};
  Floats row = run_layer({1, 1, 5, 5}, padded, counted(25));
  row.resize(5);
  EXPECT_EQ(row, (Floats{2.52f, 3.6f, 4.8f, 4.08f, 3.24f}));
  // The last window covers 4, a padded column and nothing further: two taps.
  const Pool beyond{Pool::Kind::kAverage, {1, 3}, {1, 2}, {0, 1}, {1, 1}, true, true};
  EXPECT_EQ(run_layer({1, 1, 1, 4}, beyond, {1, 2, 3, 4}), (Floats{1, 3, 2}));
}

TEST(LayerByHand, FunctionsOfOneValue) {
  using Function = Unary::Function;
  const auto of = [](const Unary& unary, const Floats& values) {
    return run_layer({1, 1, 1, static_cast<std::int64_t>(values.size())}, unary, values);
  };
  EXPECT_EQ(of({Function::kRound}, {0.1f, 0.5f, 0.9f, 1.2f, 1.5f, 1.8f, 2.3f, 2.5f, 2.7f, -1.1f,
                                    -1.5f, -1.9f, -2.2f, -2.5f, -2.8f}),
            (Floats{0, 0, 1, 1, 2, 2, 2, 2, 3, -1, -2, -2, -2, -2, -3}));
  EXPECT_EQ(of({Function::kThresholdedRelu, 2}, {-1.5f, 0, 2, 2.2f}), (Floats{0, 0, 0, 2.2f}));
  EXPECT_EQ(of({Function::kClip, -1, 1}, {-2, 0, 2}), (Floats{-1, 0, 1}));
  EXPECT_EQ(of({Function::kClip, 2, 1}, {0, 3}), (Floats{1, 1})) << "the greatest value wins";
  EXPECT_EQ(of({Function::kSign}, {-3, 0, 0.1f}), (Floats{-1, 0, 1}));
  EXPECT_EQ(of({Function::kLeakyRelu, 0.5f}, {-1, 0, 1}), (Floats{-0.5f, 0, 1}));
  EXPECT_EQ(of({Function::kHardSwish}, {-4, -3, 0, 1.5f, 3, 4}), (Floats{0, 0, 0, 1.125f, 3, 4}));
  EXPECT_EQ(of({Function::kHardSigmoid, 0.5f, 0.25f}, {-1, 0, 1, 2}), (Floats{0, 0.25f, 0.75f, 1}));
  expect_near(of({Function::kElu, 2}, {-1, 0, 1}), {-1.2642411f, 0, 1});
  expect_near(of({Function::kSelu, 2, 3}, {-1, 0, 1}), {-3.79272f, 0, 3});
  expect_near(of({Function::kGelu}, {-1, 0, 1}), {-0.15865526f, 0, 0.84134474f});
  expect_near(of({Function::kSoftplus}, {-1, 0, 1}), {0.31326166f, 0.6931472f, 1.3132616f});
  expect_near(of({Function::kMish}, {0, 1}), {0, 0.8650984f});
}

TEST(LayerByHand, FunctionsOfTwoValues) {
  using Function = Binary::Function;
  const auto of = [](const Binary& binary, const Floats& a, const Floats& b) {
    return run(layer_case({{1, 2, 1, 2}, {1, 2, 1, 1}}, binary), {a, b});
  };
  EXPECT_EQ(of({Function::kSub, {}, false}, {1, 2, 3, 4}, {10, 20}), (Floats{-9, -18, -7, -16}));
  EXPECT_EQ(of({Function::kDiv, {}, false}, {1, 2, 3, 4}, {2, 4}), (Floats{0.5f, 0.5f, 1.5f, 1}));
  EXPECT_EQ(of({Function::kPRelu, {}, false}, {-1, -2, 3, 4}, {2, 4}), (Floats{-2, -8, 3, 4}));
  EXPECT_EQ(of({Function::kMin, {}, false}, {1, 2, 3, 4}, {2, 3}), (Floats{1, 2, 2, 3}));
  EXPECT_EQ(of({Function::kPow, {}, false}, {-1, -2, -3, 4}, {3, 2}), (Floats{-1, 4, -27, 16}));
  Binary constant{Function::kSub, Shape{1, 1, 1, 2}, false};
  EXPECT_EQ(run_layer({1, 2, 1, 1}, constant, {1, 2}, {{10, 20}, {}}), (Floats{-9, -8, -19, -18}));
  constant.constant_first = true;
  EXPECT_EQ(run_layer({1, 2, 1, 1}, constant, {1, 2}, {{10, 20}, {}}), (Floats{9, 8, 19, 18}));
}

TEST(LayerByHand, SoftmaxAndReductions) {
  expect_near(run_layer({1, 3, 1, 1}, Softmax{{.c = true}}, {-1, 0, 1}),
              {0.09003058f, 0.24472848f, 0.66524094f});
  const Floats shifted = {0, 1, 2, 3, 10000, 10001, 10002, 10003};
  expect_near(run_layer({2, 4, 1, 1}, Softmax{{.c = true}}, shifted),
              {0.032058604f, 0.08714432f, 0.23688284f, 0.6439143f, 0.032058604f, 0.08714432f,
               0.23688284f, 0.6439143f});
  expect_near(run_layer({1, 3, 1, 1}, Softmax{{.c = true}, true}, {-1, 0, 1}),
              {-2.4076061f, -1.407606f, -0.407606f});
  using Function = Reduce::Function;
  const Shape shape{1, 2, 1, 3};  // channels (1, 3, 5) and (2, -4, 6)
  const Floats values = {1, 2, 3, -4, 5, 6};
  EXPECT_EQ(run_layer(shape, Reduce{Function::kL1, {.w = true}}, values), (Floats{9, 12}));
  EXPECT_EQ(run_layer(shape, Reduce{Function::kSumSquare, {.w = true}}, values), (Floats{35, 56}));
  EXPECT_EQ(run_layer(shape, Reduce{Function::kProd, {.w = true}}, values), (Floats{15, -48}));
  EXPECT_EQ(run_layer(shape, Reduce{Function::kMax, {.c = true}}, values), (Floats{2, 3, 6}));
  EXPECT_EQ(
      run_layer(shape, Reduce{Function::kMean, {.c = true, .w = true}}, {1e8f, 3, 0, 3, -1e8f, 0}),
      (Floats{1}));
}

TEST(LayerByHand, Normalizations) {
  // Groups of neighbouring channels: (1, 3) and (10, 30).
  EXPECT_EQ(run_layer({1, 4, 1, 1}, Normalization{{}, 2, 0, {}, {}}, {1, 3, 10, 30}),
            (Floats{-1, 1, -1, 1}));
  const Shape per_channel{1, 2, 1, 1};
  const Normalization instance{{.h = true, .w = true}, 0, 0, per_channel, per_channel};
  EXPECT_EQ(run_layer({1, 2, 1, 2}, instance, {1, 10, 3, 30}, {{2, 3}, {0.5f, 1}}),
            (Floats{-1.5f, -2, 2.5f, 4}));
  // The window of two is the value's own channel and the next one.
  const LocalResponseNormalization response{2, 2, 1, 1};
  EXPECT_EQ(run_layer({1, 3, 1, 1}, response, {1, 2, 3}), (Floats{1 / 6.0f, 2 / 14.0f, 0.3f}));
}

struct ResizeCase {
  const char* name;
  Shape input;
  Resize resize;
  Floats expected;
};

Resize resize_by(Resize::Mode mode, Resize::Coordinates coordinates, Resize::Nearest nearest,
                 Extent size, double scale_h, double scale_w) {
  return {mode, coordinates, nearest, size, scale_h, scale_w};
}

TEST(LayerByHand, ResizesAsPublished) {
  using Mode = Resize::Mode;
  using At = Resize::Coordinates;
  using To = Resize::Nearest;
  const Shape two{1, 1, 2, 2}, wide{1, 1, 2, 4}, row{1, 1, 1, 4};
  const auto half = To::kRoundPreferFloor;
  const ResizeCase cases[] = {
      {"linear",
       two,
       resize_by(Mode::kLinear, At::kHalfPixel, half, {4, 4}, 2, 2),
       {1, 1.25f, 1.75f, 2, 1.5f, 1.75f, 2.25f, 2.5f, 2.5f, 2.75f, 3.25f, 3.5f, 3, 3.25f, 3.75f,
        4}},
      {"linear align_corners",
       two,
       resize_by(Mode::kLinear, At::kAlignCorners, half, {4, 4}, 2, 2),
       {1, 1.33333333f, 1.66666667f, 2, 1.66666667f, 2, 2.33333333f, 2.66666667f, 2.33333333f,
        2.66666667f, 3, 3.33333333f, 3, 3.33333333f, 3.66666667f, 4}},
      {"linear down",
       wide,
       resize_by(Mode::kLinear, At::kHalfPixel, half, {1, 2}, 0.6, 0.6),
       {2.6666665f, 4.3333331f}},
      {"linear down align_corners",
       wide,
       resize_by(Mode::kLinear, At::kAlignCorners, half, {1, 2}, 0.6, 0.6),
       {1, 3.142857f}},
      {"nearest",
       two,
       resize_by(Mode::kNearest, At::kHalfPixel, half, {4, 6}, 2, 3),
       {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}},
      {"nearest down",
       wide,
       resize_by(Mode::kNearest, At::kHalfPixel, half, {1, 2}, 0.6, 0.6),
       {1, 3}},
      {"nearest floor align_corners",
       row,
       resize_by(Mode::kNearest, At::kAlignCorners, To::kFloor, {1, 8}, 1, 2),
       {1, 1, 1, 2, 2, 3, 3, 4}},
      {"nearest ceil",
       row,
       resize_by(Mode::kNearest, At::kHalfPixel, To::kCeil, {1, 8}, 1, 2),
       {1, 2, 2, 3, 3, 4, 4, 4}},
      {"nearest round_prefer_ceil asymmetric",
       row,
       resize_by(Mode::kNearest, At::kAsymmetric, To::kRoundPreferCeil, {1, 8}, 1, 2),
       {1, 2, 2, 3, 3, 4, 4, 4}},
      {"nearest round_prefer_floor asymmetric",
       row,
       resize_by(Mode::kNearest, At::kAsymmetric, half, {1, 8}, 1, 2),
       {1, 1, 2, 2, 3, 3, 4, 4}},
  };
  for (const ResizeCase& c : cases) {
    SCOPED_TRACE(c.name);
    expect_near(run_layer(c.input, c.resize, counted(c.input.elements())), c.expected);
  }
}

TEST(LayerByHand, ResizesByCubicInterpolation) {
  using At = Resize::Coordinates;
  const auto mode = Resize::Mode::kCubic;
  const auto half = Resize::Nearest::kRoundPreferFloor;
  Resize cubic = resize_by(mode, At::kHalfPixel, half, {8, 8}, 2, 2);
  Floats first = run_layer({1, 1, 4, 4}, cubic, counted(16));
  first.resize(8);
  expect_near(first, {0.47265625f, 0.76953125f, 1.24609375f, 1.875f, 2.28125f, 2.91015625f,
                      3.38671875f, 3.68359375f});
  // At 1.5 the taps inside weigh -0.0625 and 0.5625, and are divided by their sum.
  cubic = resize_by(mode, At::kAsymmetric, half, {1, 4}, 1, 2);
  cubic.cubic_a = -0.5f;
  cubic.exclude_outside = true;
  expect_near(run_layer({1, 1, 1, 2}, cubic, {1, 3}), {1, 2, 3, 3.25f});
}

TEST(LayerByHand, Pads) {
  const auto padded = [](Pad::Mode mode) {
    return run_layer({1, 1, 1, 3}, Pad{mode, {0, 0, 0, 2}, {0, 0, 0, 1}, 7}, {1, 2, 3});
  };
  EXPECT_EQ(padded(Pad::Mode::kConstant), (Floats{7, 7, 1, 2, 3, 7}));
  EXPECT_EQ(padded(Pad::Mode::kReflect), (Floats{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded(Pad::Mode::kEdge), (Floats{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded(Pad::Mode::kWrap), (Floats{2, 3, 1, 2, 3, 1}));
}

TEST(LayerByHand, MovesAndConcats) {
  const Move transpose{{1, 2, 1, 3}, {{3, 1}, {2, 3}}, 0};
  EXPECT_EQ(run_layer({1, 3, 1, 2}, transpose, {1, 2, 3, 4, 5, 6}), (Floats{1, 4, 2, 5, 3, 6}));
  const Move backwards{{1, 1, 1, 3}, {{3, -2}}, 5};
  EXPECT_EQ(run_layer({1, 3, 1, 2}, backwards, {1, 2, 3, 4, 5, 6}), (Floats{6, 4, 2}));
  const Move repeat{{1, 2, 2, 1}, {{2, 0}, {2, 1}}, 1};
  EXPECT_EQ(run_layer({1, 3, 1, 1}, repeat, {1, 2, 3}), (Floats{2, 3, 2, 3}));
  const auto concat = [](const Shape& a, const Shape& b, Axis axis, const Floats& x,
                         const Floats& y) {
    return run(layer_case({a, b}, Concat{axis}), {x, y});
  };
  EXPECT_EQ(concat({1, 2, 1, 1}, {1, 2, 1, 2}, Axis::kW, {1, 2}, {3, 4, 5, 6}),
            (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(concat({1, 1, 2, 1}, {1, 1, 2, 2}, Axis::kW, {1, 2}, {3, 4, 5, 6}),
            (Floats{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(concat({2, 1, 1, 1}, {2, 1, 2, 1}, Axis::kH, {1, 2}, {3, 4, 5, 6}),
            (Floats{1, 3, 4, 2, 5, 6}));
}

TEST(LayerByHand, MatMulIsRowsTimesColumns) {
  const Floats a = {1, 2, 3, 4};  // two rows of two
  EXPECT_EQ(run(layer_case({{1, 2, 1, 2}, {1, 3, 1, 2}}, MatMul{}), {a, {1, 2, 3, 4, 5, 6}}),
            (Floats{9, 12, 15, 19, 26, 33}));
  EXPECT_EQ(run(layer_case({{1, 2, 1, 2}, {1, 2, 1, 3}}, MatMul{true}), {a, {1, 4, 2, 5, 3, 6}}),
            (Floats{9, 12, 15, 19, 26, 33}));
}

TEST(LayerByHand, ReadsATensorInAnotherShape) {
  const auto c = make_operation("pool", {Shape{1, 4, 1, 2}}, [](ModelBuilder& b, Inputs x) {
    b.add("pool", GlobalAveragePool{}, {x[0]}, {Shape{1, 2, 2, 2}});
  });
  EXPECT_EQ(run(c, {{1, 2, 3, 4, 5, 6, 7, 8}}), (Floats{4, 5}));
  // Inside an operator, too: a layer may read an earlier layer's output in another shape.
  const auto inside = make_operation("inside", {Shape{1, 4, 1, 2}}, [](ModelBuilder& b, Inputs x) {
    b.add("pool", GlobalAveragePool{}, {b.relu("relu", x[0])}, {Shape{1, 2, 2, 2}});
  });
  EXPECT_EQ(run(inside, {{-1, 2, 3, 4, 5, 6, 8, 8}}), (Floats{4, 5}));
}

// ------------------------------------------------------------------ weights and arithmetic

TEST(ReferenceLayers, ConstantsAreHalvesInFp16) {
  const auto backend = reference_in(Precision::kFp16);
  const Binary add{Binary::Function::kAdd, Shape{1, 1, 1, 1}, false};
  FixedSource source({1.0001f}, {});  // no half
  EXPECT_EQ(test::run_operation(*backend, layer_case({{1, 1, 1, 1}}, add), 1, {{0}}, source),
            (Floats{1}));
}

TEST(ReferenceLayers, ProductsAreRoundedInTf32AndNothingElse) {
  const auto backend = reference_in(Precision::kTf32);
  const float x = 1 + 0x1.0p-12f;  // ten bits after the binary point are kept
  ASSERT_EQ(round_to_tf32(x), 1);
  const auto one = [&](const LayerKind& kind, const Floats& weights) {
    FixedSource source(weights, {});
    return test::run_operation(*backend, layer_case({{1, 1, 1, 1}}, kind), 1, {{x}}, source);
  };
  EXPECT_EQ(one(ConvTranspose{1, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, false}, {x}), (Floats{1}));
  EXPECT_EQ(one(Binary{Binary::Function::kMin, Shape{1, 1, 1, 1}, false}, {x}), (Floats{x}));
  FixedSource none;
  EXPECT_EQ(test::run_operation(*backend, layer_case({{1, 1, 1, 1}, {1, 1, 1, 1}}, MatMul{}), 1,
                                {{x}, {x}}, none),
            (Floats{1}));
}

}  // namespace
}  // namespace hios
