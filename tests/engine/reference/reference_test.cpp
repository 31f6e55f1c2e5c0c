// The reference backend on the operators of the four networks, and as a backend.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/reference/by_hand.h"
#include "hios/base/error.h"
#include "support/layers/layer_operations.h"
#include "support/layers/naive_nchw.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

using test::FixedSource;
using test::Floats;
using test::make_operation;
using test::OperationCase;
using test::reference_backend;
using test::run;
using Inputs = std::span<const TensorId>;

OperationCase conv_case(const Shape& input, const Conv& conv) {
  return make_operation("conv", input, {},
                        [&](ModelBuilder& b, Inputs x) { b.conv("conv", x[0], conv); });
}

OperationCase pool_case(const Shape& input, const Pool& pool) {
  return make_operation("pool", input, {},
                        [&](ModelBuilder& b, Inputs x) { b.pool("pool", x[0], pool); });
}

// ------------------------------------------------------------------------------ by hand

TEST(ReferenceByHand, PointwiseConvMixesChannels) {
  const auto c = conv_case({1, 2, 1, 2}, {2, {1, 1}, {1, 1}, {0, 0}});
  // Two pixels (1, 2) and (3, 4); out 0 = 10 a + 20 b + 0.5, out 1 = 30 a + 40 b − 0.5.
  EXPECT_EQ(run(c, {{1, 2, 3, 4}}, {{10, 20, 30, 40}, {0.5f, -0.5f}}),
            (Floats{50.5f, 109.5f, 110.5f, 249.5f}));
}

TEST(ReferenceByHand, ConvPadsWithZerosAndIsNotFlipped) {
  const auto c = conv_case({1, 1, 3, 3}, {1, {3, 3}, {1, 1}, {1, 1}, 1, false});
  const Floats image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  // In a corner four taps read the image: the last four there, the first four here.
  const Floats out = run(c, {image}, {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {}});
  EXPECT_EQ(out[0], 1 * 5 + 2 * 6 + 4 * 8 + 5 * 9);
  EXPECT_EQ(out[4], 285);
  EXPECT_EQ(out[8], 5 * 1 + 6 * 2 + 8 * 4 + 9 * 5);
}

TEST(ReferenceByHand, ConvTellsHeightFromWidth) {
  const Floats image = {1, 2, 3, 4, 5, 6};  // two rows of three
  const auto wide = conv_case({1, 1, 2, 3}, {1, {1, 2}, {1, 1}, {0, 0}, 1, false});
  EXPECT_EQ(run(wide, {image}, {{1, 10}, {}}), (Floats{21, 32, 54, 65}));
  const auto high = conv_case({1, 1, 2, 3}, {1, {2, 1}, {1, 1}, {0, 0}, 1, false});
  EXPECT_EQ(run(high, {image}, {{1, 10}, {}}), (Floats{41, 52, 63}));
  const auto strided = conv_case({1, 1, 2, 3}, {1, {1, 1}, {1, 2}, {0, 0}, 1, false});
  EXPECT_EQ(run(strided, {image}, {{1}, {}}), (Floats{1, 3, 4, 6}));
  const auto padded = conv_case({1, 1, 1, 1}, {1, {1, 1}, {1, 1}, {1, 0}, 1, true});
  EXPECT_EQ(run(padded, {{7}}, {{1}, {2}}), (Floats{2, 9, 2}));
}

TEST(ReferenceByHand, GroupsSeeTheirOwnChannels) {
  const auto depthwise = conv_case({1, 2, 1, 2}, {2, {1, 2}, {1, 1}, {0, 0}, 2});
  // Channel 0 is (1, 3), channel 1 is (2, 4).
  EXPECT_EQ(run(depthwise, {{1, 2, 3, 4}}, {{1, 10, 100, 1000}, {0.5f, 0.25f}}),
            (Floats{31.5f, 4200.25f}));
  const auto grouped = conv_case({1, 4, 1, 1}, {2, {1, 1}, {1, 1}, {0, 0}, 2, false});
  EXPECT_EQ(run(grouped, {{1, 2, 3, 4}}, {{1, 10, 100, 1000}, {}}), (Floats{21, 4300}));
  const auto multiplied = conv_case({1, 2, 1, 1}, {4, {1, 1}, {1, 1}, {0, 0}, 2, false});
  EXPECT_EQ(run(multiplied, {{1, 2}}, {{1, 10, 100, 1000}, {}}), (Floats{1, 10, 200, 2000}));
}

TEST(ReferenceByHand, MaximumIgnoresPadding) {
  const auto c = pool_case({1, 1, 2, 2}, {Pool::Kind::kMax, {3, 3}, {2, 2}, {1, 1}});
  EXPECT_EQ(run(c, {{-4, -3, -2, -1}}), (Floats{-1}));
  const auto channels = pool_case({1, 2, 1, 2}, {Pool::Kind::kMax, {1, 2}, {1, 1}, {0, 0}});
  EXPECT_EQ(run(channels, {{1, 8, 5, 2}}), (Floats{5, 8}));
}

TEST(ReferenceByHand, AverageDividesByPixelsInside) {
  const auto c = pool_case({1, 1, 2, 2}, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  EXPECT_EQ(run(c, {{1, 2, 3, 6}}), (Floats{3, 3, 3, 3}));
  const auto row = pool_case({1, 1, 1, 4}, {Pool::Kind::kAverage, {1, 3}, {1, 1}, {0, 1}});
  EXPECT_EQ(run(row, {{1, 3, 8, 4}}), (Floats{2, 4, 5, 6}));
}

TEST(ReferenceByHand, GlobalAverageIsPerImageAndChannel) {
  const auto c = make_operation("pool", {2, 2, 1, 2}, {}, [](ModelBuilder& b, Inputs x) {
    b.global_average_pool("pool", x[0]);
  });
  EXPECT_EQ(run(c, {{1, 10, 3, 20, 5, 50, 8, 60}}), (Floats{2, 15, 6.5f, 55}));
}

TEST(ReferenceByHand, ReluSumConcat) {
  const auto relu = make_operation("relu", {1, 2, 1, 2}, {},
                                   [](ModelBuilder& b, Inputs x) { b.relu("relu", x[0]); });
  EXPECT_EQ(run(relu, {{-1, 2, 0, -0.5f}}), (Floats{0, 2, 0, 0}));
  const auto sum = make_operation("sum", {1, 1, 1, 2}, {1, 1}, [](ModelBuilder& b, Inputs x) {
    b.sum("sum", {x[0], x[1], x[0]});
  });
  EXPECT_EQ(run(sum, {{1, 2}, {10, 20}}), (Floats{12, 24}));
  const auto concat = make_operation("concat", {1, 1, 1, 2}, {1, 2}, [](ModelBuilder& b, Inputs x) {
    b.concat("concat", {x[1], x[0]});
  });
  EXPECT_EQ(run(concat, {{10, 20, 30, 40}, {1, 2}}), (Floats{10, 20, 1, 30, 40, 2}));
}

TEST(ReferenceByHand, ConcatOfSums) {
  const auto c = make_operation("cell", {1, 1, 1, 2}, {1, 1, 1}, [](ModelBuilder& b, Inputs x) {
    const TensorId first = b.sum("first", {x[0], x[1]});
    const TensorId second = b.sum("second", {x[1], x[2]});
    b.concat("concat", {first, x[2], second});
  });
  EXPECT_EQ(run(c, {{1, 2}, {10, 20}, {100, 200}}), (Floats{11, 100, 110, 22, 200, 220}));
}

TEST(ReferenceByHand, AccumulatesInDoublePrecision) {
  const auto conv = conv_case({1, 3, 1, 1}, {1, {1, 1}, {1, 1}, {0, 0}, 1, false});
  EXPECT_EQ(run(conv, {{1e8f, 1, -1e8f}}, {{1, 1, 1}, {}}), (Floats{1}));
  const auto sum = make_operation("sum", {1, 1, 1, 1}, {1, 1, 1}, [](ModelBuilder& b, Inputs x) {
    b.sum("sum", {x.begin(), x.end()});
  });
  EXPECT_EQ(run(sum, {{1e8f}, {1}, {-1e8f}}), (Floats{1}));
  const auto average = pool_case({1, 1, 1, 3}, {Pool::Kind::kAverage, {1, 3}, {1, 1}, {0, 0}});
  EXPECT_EQ(run(average, {{1e8f, 3, -1e8f}}), (Floats{1}));
}

TEST(ReferenceByHand, LayersOfAnOperatorAreStoredAsFloats) {
  // 1e8 + 1 is no float: the sum is rounded before the next sum reads it.
  const auto c = make_operation("sums", {1, 1, 1, 1}, {1, 1, 1}, [](ModelBuilder& b, Inputs x) {
    b.sum("second", {b.sum("first", {x[0], x[1]}), x[2]});
  });
  EXPECT_EQ(run(c, {{1e8f}, {1}, {-1e8f}}), (Floats{0}));
}

// --------------------------------------------------------- against another implementation

void expect_agreement(const OperationCase& c) {
  constexpr std::uint64_t kSeed = 5;
  SeededSource source(kSeed);
  const auto inputs = test::random_inputs(c, kSeed);
  const Floats expected = test::naive_nchw(c.model, c.layers, inputs, source);
  const Floats values = test::run_operation(*reference_backend(), c, 1, kSeed);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], 1e-6 + 1e-6 * std::abs(expected[i])) << "element " << i;
  }
}

// One test for all cases: there are a thousand, and each takes less time than starting a program.

TEST(ReferenceCases, AgreeWithNaiveNchw) {
  for (const auto* cases : {&test::operation_cases(), &test::layer_operation_cases()}) {
    for (const OperationCase& c : *cases) {
      SCOPED_TRACE(c.name);
      expect_agreement(c);
    }
  }
}

TEST(ReferenceCases, SameBitsForAnyNumberOfThreads) {
  for (const OperationCase& c : test::operation_cases()) {
    SCOPED_TRACE(c.name);
    const Floats one = test::run_operation(*reference_backend(1), c, 1, 3);
    const Floats three = test::run_operation(*reference_backend(3), c, 3, 3);
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(float)), 0);
  }
}

// --------------------------------------------------------------------------- the backend

TEST(ReferenceBackend, DescribesItself) {
  const auto backend = reference_backend(2);
  EXPECT_EQ(backend->name(), "reference");
  EXPECT_EQ(backend->kind(), "cpu");
  EXPECT_EQ(backend->threads(), 2);
  EXPECT_TRUE(backend->describe().contains("library"));
  for (const OperationCase& c : test::operation_cases()) {
    EXPECT_FALSE(backend->unsupported(c.operation()).has_value()) << c.name;
  }
}

TEST(ReferenceBackend, BuffersAreAlignedAndRefusalsSayHowMuch) {
  const auto backend = reference_backend();
  for (const Bytes size : {1u, 63u, 4096u}) {
    const auto buffer = backend->allocate(size, "a test");
    EXPECT_EQ(buffer->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0u);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these end the process
  try {
    backend->allocate(Bytes{1} << 62, "the tensor of conv_7");
    FAIL() << "that much memory cannot be";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("conv_7"));
    EXPECT_THAT(error.what(), testing::HasSubstr("4611686018427387904 bytes"));
  }
#endif
}

/// An operator with buffers of its own.
struct Bound {
  Bound(Backend& backend, const OperationCase& c, float value, TensorSource& source) {
    for (const TensorId id : c.layers.inputs) {
      inputs.push_back(backend.allocate(
          c.model.tensor(id).shape.size_bytes(element_bytes(Precision::kFp32)), "input"));
      std::ranges::fill(floats(*inputs.back()), value);
      pointers.push_back(inputs.back()->data());
    }
    output =
        backend.allocate(c.output_shape().size_bytes(element_bytes(Precision::kFp32)), "output");
    op = backend.bind(c.operation(), pointers, output->data(), core_shares(1, 1)[0], source);
  }
  static std::span<float> floats(Buffer& buffer) {
    return {reinterpret_cast<float*>(buffer.data()), buffer.size_bytes() / sizeof(float)};
  }

  std::vector<std::unique_ptr<Buffer>> inputs;
  std::vector<const std::byte*> pointers;
  std::unique_ptr<Buffer> output;
  std::unique_ptr<BoundOperator> op;
};

OperationCase scaled_relu(const char* name, std::int64_t pixels) {
  return make_operation(name, {1, 1, 1, pixels}, {}, [](ModelBuilder& b, Inputs x) {
    b.conv("conv", b.relu("relu", x[0]), {1, {1, 1}, {1, 1}, {0, 0}, 1, false});
  });
}

TEST(ReferenceBackend, ScratchServesOperatorsBoundBeforeAndAfterItGrew) {
  const auto backend = reference_backend();
  FixedSource source({10}, {});
  const OperationCase small = scaled_relu("small", 2), large = scaled_relu("large", 1 << 18);
  const Bound first(*backend, small, 2, source), second(*backend, large, 3, source),
      third(*backend, small, 4, source);
  for (int repetition = 0; repetition < 2; ++repetition) {
    first.op->run();
    second.op->run();
    third.op->run();
    EXPECT_EQ(Bound::floats(*first.output)[1], 20);
    EXPECT_EQ(Bound::floats(*third.output)[1], 40);
    EXPECT_EQ(Bound::floats(*second.output).back(), 30);
  }
}

TEST(ReferenceBackend, WeightsAreSharedWhileBoundAndDrawnAgainLater) {
  const auto backend = reference_backend();
  FixedSource source({10}, {}), other({20}, {});
  const OperationCase c = scaled_relu("op", 3);
  {
    const Bound first(*backend, c, 1, source), second(*backend, c, 2, source);
    EXPECT_EQ(source.drawn, 1);
    const Bound third(*backend, c, 1, other);
    third.op->run();
    EXPECT_EQ(Bound::floats(*third.output)[0], 20) << "another source has other weights";
    second.op->run();
    EXPECT_EQ(Bound::floats(*second.output)[0], 20);
  }
  const Bound again(*backend, c, 1, source);
  EXPECT_EQ(source.drawn, 2);
}

TEST(ReferenceBackend, RunsGroupsInOrderAndPollsBetweenOperators) {
  const auto backend = reference_backend();
  struct Recorder final : BoundOperator {
    Recorder(int n, std::vector<int>& l) : number(n), log(l) {}
    void run() override { log.push_back(number); }
    int number;
    std::vector<int>& log;
  };
  std::vector<int> log;
  Recorder a(1, log), b(2, log), c(3, log);
  const std::vector<BoundGroup> groups = {{&a, &b}, {&c}};
  backend->run_stage(groups, core_shares(2, 2), nullptr, nullptr);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
  log.clear();
  const auto poll = [](void* argument) { static_cast<std::vector<int>*>(argument)->push_back(0); };
  backend->run_stage(groups, core_shares(2, 2), poll, &log);
  EXPECT_EQ(log, (std::vector<int>{1, 0, 2, 0, 3}));
}

TEST(ReferenceBackend, ExceptionOfAGroupIsRethrown) {
  struct Failing final : BoundOperator {
    void run() override { throw RunError("a kernel failed"); }
  } failing;
  const std::vector<BoundGroup> groups = {{&failing}};
  EXPECT_THROW(reference_backend()->run_stage(groups, core_shares(1, 1), nullptr, nullptr),
               RunError);
}

TEST(ReferenceBackend, RefusesAWrongNumberOfInputs) {
  const auto backend = reference_backend();
  const OperationCase c = scaled_relu("op", 3);
  FixedSource source({10}, {});
  std::vector<std::byte> output(64);
  EXPECT_THROW(backend->bind(c.operation(), {}, output.data(), core_shares(1, 1)[0], source),
               std::logic_error);
}

TEST(ReferenceBackend, ImagesOfABatchDoNotMix) {
  // The second image alone gives the same bits as the second of two.
  for (const OperationCase& c : test::operation_cases()) {
    if (c.model.batch() != 2 || c.layers.inputs.size() != 1) continue;
    std::vector<Floats> both = test::random_inputs(c, 1);
    SeededSource source(1);
    const Floats out = test::run_operation(*reference_backend(), c, 1, both, source);
    std::vector<Floats> swapped = both;
    std::ranges::rotate(swapped[0], swapped[0].begin() + swapped[0].size() / 2);
    Floats expected = test::run_operation(*reference_backend(), c, 1, swapped, source);
    std::ranges::rotate(expected, expected.begin() + expected.size() / 2);
    EXPECT_EQ(out, expected) << c.name;
  }
}

}  // namespace
}  // namespace hios
