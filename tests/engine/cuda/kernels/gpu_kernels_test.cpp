// Our own kernels beyond the cases of all backends: every candidate of a convolution, whatever the
// trials choose, every size and step that the depthwise kernel is compiled for, on few pixels and
// on many, and means of many images.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/cuda/backend.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/memory.h"
#include "engine/cuda/device/recording.h"
#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/operators/convolution.h"
#include "engine/cuda/operators/operators.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

constexpr std::uint64_t kSeed = 11;

BackendOptions options_in(Precision precision) {
  BackendOptions options;
  options.precision = precision;
  return options;
}

/// Expects the reference's values in the same arithmetic.
void expect_as_reference(Backend& backend, const test::OperationCase& operation_case) {
  const bool rounds = backend.precision() != Precision::kFp32;
  const auto expected = test::run_operation(
      *reference::make_backend(options_in(backend.precision())), operation_case, 1, kSeed);
  const job::Comparison comparison =
      job::compare(test::run_operation(backend, operation_case, 1, kSeed), expected,
                   rounds ? job::Tolerance{2e-2, 2e-2} : job::Tolerance{2e-4, 2e-4});
  EXPECT_EQ(comparison.outside, 0u)
      << operation_case.name << ": largest difference " << comparison.max_abs;
}

/// Expects right values of all candidates for a case, each alone.
void expect_every_candidate_right(const test::OperationCase& operation_case, Precision precision) {
  const Operation operation = operation_case.operation();
  const auto chooser = cuda::make_backend(options_in(precision));
  const Json chosen = chooser->algorithms(operation, Choosing::kByTiming);
  ASSERT_EQ(chosen.size(), 1u);
  const std::string key = chosen.begin().key();

  const cuda::Gpu gpu = cuda::open_gpu(0);
  cuda::StreamState stream;
  const auto lt = cuda::make<cuda::LtHandle>("a test", cublasLtCreate);
  const auto problem = cuda::problem_of(
      operation_case.model, std::get<ConvolutionChain>(operation_case.layers.form), precision);
  const cuda::ConvolutionTools tools{gpu, stream, lt.get()};
  std::size_t ran = 0;
  for (const std::string& name : cuda::convolution_candidates(*problem, tools, true)) {
    SCOPED_TRACE(name);
    BackendOptions options = options_in(precision);
    options.algorithms = Json{{key, name}};
    const auto backend = cuda::make_backend(options);
    try {
      backend->algorithms(operation, Choosing::kByTiming);
    } catch (const RunError&) {
      EXPECT_NE(name.substr(0, 4), "own ") << "our kernel takes everything";
      continue;  // a library may list an algorithm that it then refuses
    }
    ++ran;
    expect_as_reference(*backend, operation_case);
  }
  EXPECT_GE(ran, std::size(cuda::kTiles));
}

test::OperationCase conv_case(const std::string& name, const Shape& input, const Conv& conv,
                              bool relu_before, bool relu_after) {
  return test::make_operation(name, input, {}, [&](ModelBuilder& b, std::span<const TensorId> x) {
    TensorId y = x[0];
    if (relu_before) y = b.relu("before", y);
    y = b.conv("conv", y, conv);
    if (relu_after) b.relu("after", y);
  });
}

class Candidates : public testing::TestWithParam<Precision> {};

TEST_P(Candidates, ForADeepPointwiseConvolutionAreAllRight) {
  expect_every_candidate_right(
      conv_case("pointwise", {1, 768, 8, 8}, Conv{192, {1, 1}, {1, 1}, {0, 0}}, false, true),
      GetParam());
}

TEST_P(Candidates, AfterAReluAreAllRight) {
  expect_every_candidate_right(
      conv_case("relu_first", {1, 96, 9, 11}, Conv{72, {3, 3}, {1, 1}, {1, 1}}, true, true),
      GetParam());
}

TEST_P(Candidates, WithOddChannelsAreAllRight) {
  expect_every_candidate_right(
      conv_case("odd", {2, 13, 19, 17}, Conv{71, {3, 3}, {2, 2}, {1, 1}}, false, false),
      GetParam());
}

TEST_P(Candidates, WithGroupsWithoutBiasAreAllRight) {
  expect_every_candidate_right(
      conv_case("groups", {1, 64, 14, 14}, Conv{64, {3, 3}, {1, 1}, {1, 1}, 4, false}, false, true),
      GetParam());
}

TEST_P(Candidates, PaddedUnevenlyAreAllRight) {
  const Conv conv{72, {3, 3}, {2, 2}, {Extent{0, 0}, Extent{1, 1}}};
  expect_every_candidate_right(conv_case("uneven", {1, 64, 14, 18}, conv, false, true), GetParam());
}

TEST_P(Candidates, WithTapsApartAreAllRight) {
  const Conv conv{72, {3, 3}, {1, 1}, {2, 3}, 1, true, {2, 3}};
  expect_every_candidate_right(conv_case("spread", {1, 64, 14, 18}, conv, false, true), GetParam());
}

std::string name_of(const testing::TestParamInfo<Precision>& info) {
  return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(In, Candidates,
                         testing::Values(Precision::kFp32, Precision::kTf32, Precision::kFp16),
                         name_of);

class Depthwise : public testing::TestWithParam<Precision> {};

TEST_P(Depthwise, IsRightForEverySizeAndStep) {
  const auto backend = cuda::make_backend(options_in(GetParam()));
  for (const std::int64_t size : {2, 3, 5, 7}) {
    for (const std::int64_t step : {1, 2, 3}) {
      // Few pixels; many, so that threads take several; channels that are not a multiple of four.
      for (const Shape& shape : {Shape{1, 40, 9, 11}, Shape{1, 168, 83, 85}, Shape{2, 19, 13, 9}}) {
        const Conv conv{shape.c, {size, size}, {step, step}, {size / 2, size / 2}, shape.c};
        expect_as_reference(*backend, conv_case("depthwise_" + std::to_string(size) + "_" +
                                                    std::to_string(step) + "_" + shape.to_string(),
                                                shape, conv, true, true));
      }
    }
  }
}

TEST_P(Depthwise, GivesAPixelTheSameBitsHoweverManyThereAre) {
  const auto backend = cuda::make_backend(options_in(GetParam()));
  const Conv conv{512, {5, 5}, {1, 1}, {2, 2}, 512};
  const auto few = conv_case("few", {1, 512, 12, 40}, conv, true, false);
  const auto many = conv_case("few", {8, 512, 12, 40}, conv, true, false);
  SeededSource source(kSeed);
  const auto inputs = test::random_inputs(many, kSeed);
  auto first_image = inputs;
  first_image[0].resize(first_image[0].size() / 8);
  const auto from_few = test::run_operation(*backend, few, 1, first_image, source);
  auto from_many = test::run_operation(*backend, many, 1, inputs, source);
  from_many.resize(from_few.size());
  EXPECT_TRUE(job::compare(from_many, from_few, {}).bitwise);
}

INSTANTIATE_TEST_SUITE_P(In, Depthwise, testing::Values(Precision::kFp32, Precision::kFp16),
                         name_of);

/// A grid has at most 65,535 rows of blocks. The work is recorded, not run: it would take long on
/// the emulated device.
TEST(GlobalMean, TakesMoreImagesThanAGridHasRows) {
  cuda::open_gpu(0);
  const cuda::StreamState stream;
  cuda::DeviceBlock memory(Bytes{65600} * 2 * sizeof(float), "a test");
  const cuda::MeanTask task{
      .input = memory.data(), .output = memory.data(), .images = 65600, .pixels = 1, .channels = 2};
  EXPECT_NO_THROW(cuda::capture(
      stream.stream(), [&] { HIOS_CUDA(cuda::global_mean(task, stream.stream()), "averaging"); }));
}

}  // namespace
}  // namespace hios
