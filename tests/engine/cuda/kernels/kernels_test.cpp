// The CUDA backend's own kernels and the code that binds them, on the host
// (tests/support/emulated_cuda explains the limits), in fp32 and fp16, against the reference in the
// same arithmetic.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/cuda/backend.h"
#include "engine/cuda/bound_network.h"
#include "engine/cuda/cold_start.h"
#include "engine/cuda/kernels/own_kernels.h"
#include "engine/cuda/operators/operators.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/base/numbers/half.h"
#include "hios/model/networks/networks.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/layers/layer_operations.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

constexpr std::uint64_t kSeed = 11;

using test::conv_case;
using test::OperationCase;
using test::with_own_kernels;

std::unique_ptr<Backend> reference_in(Precision precision) {
  BackendOptions options;
  options.precision = precision;
  return reference::make_backend(options);
}

/// fp32: the order of sums. fp16: a half is off by at most one in 2^11; the kernels round a few
/// times inside an operator where the reference rounds once, and values reach some 16.
job::Tolerance tolerance(Precision precision) {
  return precision == Precision::kFp16 ? job::Tolerance{8e-3, 4e-3} : job::Tolerance{2e-4, 2e-4};
}

void expect_as_reference(Backend& backend, const OperationCase& operation_case) {
  const auto expected =
      test::run_operation(*reference_in(backend.precision()), operation_case, 1, kSeed);
  const job::Comparison comparison =
      job::compare(test::run_operation(backend, operation_case, 1, kSeed), expected,
                   tolerance(backend.precision()));
  EXPECT_EQ(comparison.outside, 0u)
      << operation_case.name << ": largest difference " << comparison.max_abs;
}

class Kernels : public testing::TestWithParam<Precision> {};

TEST_P(Kernels, RunEveryOperator) {
  const auto owner = with_own_kernels(GetParam());
  Backend& backend = *owner;
  for (const OperationCase& one : test::operation_cases()) expect_as_reference(backend, one);
}

/// Every kind of layer of imported networks, with every function and mode, by the host's threads in
/// a random order; where they wait for each other, also in two others, with the same bits.
TEST_P(Kernels, RunWhatImportedNetworksBring) {
  using cuda_emulation::Threads;
  const cuda_emulation::Settings before = cuda_emulation::settings();
  const auto owner = with_own_kernels(GetParam());
  Backend& backend = *owner;
  for (const OperationCase& one : test::layer_operation_cases()) {
    ASSERT_EQ(backend.unsupported(one.operation()), std::nullopt) << one.name;
    cuda_emulation::settings().threads = Threads::kRandom;
    expect_as_reference(backend, one);
    if (GetParam() != Precision::kFp32 || !test::has_barriers(one)) continue;
    const auto random = test::run_operation(backend, one, 1, kSeed);
    for (const Threads order : {Threads::kRising, Threads::kFalling}) {
      cuda_emulation::settings().threads = order;
      const auto values = test::run_operation(backend, one, 1, kSeed);
      EXPECT_TRUE(job::compare(values, random, {}).bitwise) << one.name;
    }
  }
  cuda_emulation::settings() = before;
}

/// A shard of channels computes the bits of the whole, although its tensor has other extents.
TEST_P(Kernels, ReduceAChannelToTheSameBitsAlone) {
  const auto owner = with_own_kernels(GetParam());
  Backend& backend = *owner;
  const Axes image{.h = true, .w = true};
  for (const LayerKind& kind :
       {LayerKind(Reduce{Reduce::Function::kMean, image}), LayerKind(Softmax{image}),
        LayerKind(Normalization{image, 0, 1e-5f, {}, {}})}) {
    const auto of_channels = [&](std::int64_t channels) {
      return test::make_operation(
          "layer", {1, channels, 23, 29}, {},
          [&](ModelBuilder& b, std::span<const TensorId> x) { b.add("layer", kind, {x[0]}); });
    };
    const OperationCase many = of_channels(37), one = of_channels(1);
    const auto inputs = test::random_inputs(many, kSeed);
    std::vector<float> channel, expected;
    for (std::size_t i = 5; i < inputs[0].size(); i += 37) channel.push_back(inputs[0][i]);
    SeededSource source(kSeed);
    const auto whole = test::run_operation(backend, many, 1, inputs, source);
    for (std::size_t i = 5; i < whole.size(); i += 37) expected.push_back(whole[i]);
    const auto alone = test::run_operation(backend, one, 1, {channel}, source);
    EXPECT_TRUE(job::compare(alone, expected, {}).bitwise) << onnx_type(kind);
  }
}

TEST_P(Kernels, AreRightWithEveryTileAndSplit) {
  const OperationCase cases[] = {
      conv_case("deep", {1, 256, 5, 7}, Conv{72, {1, 1}, {1, 1}, {0, 0}}, false, true),
      conv_case("relus", {1, 48, 9, 11}, Conv{72, {3, 3}, {1, 1}, {1, 1}}, true, true),
      conv_case("odd", {2, 13, 11, 9}, Conv{71, {3, 3}, {2, 2}, {1, 1}}, false, false),
      conv_case("groups", {1, 64, 7, 7}, Conv{64, {3, 3}, {1, 1}, {1, 1}, 4, false}, false, true),
      conv_case("spread", {1, 48, 9, 8},
                Conv{40, {3, 2}, {2, 1}, {Extent{3, 0}, Extent{1, 2}}, 2, true, {2, 3}}, true,
                true)};
  for (const OperationCase& one : cases) {
    const auto own = test::own_algorithms(one, GetParam());
    for (const Json& algorithm : own) {
      SCOPED_TRACE(one.name + ": " + algorithm.dump());
      expect_as_reference(*with_own_kernels(GetParam(), algorithm), one);
    }
    EXPECT_GT(own.size(), std::size(cuda::kTiles)) << "no split among them";
  }
}

TEST_P(Kernels, AreRightForEveryDepthwiseSizeAndStep) {
  const auto owner = with_own_kernels(GetParam());
  Backend& backend = *owner;
  for (const std::int64_t size : {2, 3, 5, 7}) {
    for (const std::int64_t step : {1, 2, 3}) {
      for (const Shape& shape : {Shape{1, 40, 9, 11}, Shape{2, 19, 13, 9}}) {
        const Conv conv{shape.c, {size, size}, {step, step}, {size / 2, size / 2}, shape.c};
        expect_as_reference(backend, conv_case("depthwise_" + std::to_string(size) + "_" +
                                                   std::to_string(step) + "_" + shape.to_string(),
                                               shape, conv, true, true));
      }
    }
  }
}

/// Enough pixels for threads that compute several of them: the same bits as with few.
TEST_P(Kernels, GiveAPixelTheSameBitsHoweverManyThereAre) {
  const auto owner = with_own_kernels(GetParam());
  Backend& backend = *owner;
  const Conv conv{512, {3, 3}, {1, 1}, {1, 1}, 512};
  const auto few = conv_case("few", {1, 512, 6, 46}, conv, true, false);
  const auto many = conv_case("few", {8, 512, 6, 46}, conv, true, false);
  SeededSource source(kSeed);
  const auto inputs = test::random_inputs(many, kSeed);
  auto first_image = inputs;
  first_image[0].resize(first_image[0].size() / 8);
  const auto from_few = test::run_operation(backend, few, 1, first_image, source);
  auto from_many = test::run_operation(backend, many, 1, inputs, source);
  from_many.resize(from_few.size());
  EXPECT_TRUE(job::compare(from_many, from_few, {}).bitwise);
}

/// The memory of parameters: on the device, and read in place. Loads are threads here.
TEST_P(Kernels, StartCold) {
  const auto owner = with_own_kernels(GetParam());
  Backend& backend = *owner;
  test::expect_cold_bits_on(backend);
}

TEST_P(Kernels, ComputeAWholeNetwork) {
  const Model model = models::find("squeezenet")->build(1, 35, 35);
  const auto owner = with_own_kernels(GetParam());
  Backend& kernels = *owner;
  const auto expected = reference_in(GetParam());
  const CoarseGraph coarse = coarsen(model, kernels.element_bytes());
  SeededSource source(kSeed);
  test::BoundNetwork network(coarse, model, kernels, source, 3);
  test::BoundNetwork reference_network(coarse, model, *expected, source, 1);
  network.run();
  reference_network.run();
  const job::Comparison comparison = job::compare(network.outputs(), reference_network.outputs(),
                                                  job::default_tolerance(GetParam()));
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
}

std::string name_of(const testing::TestParamInfo<Precision>& info) {
  return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(In, Kernels, testing::Values(Precision::kFp32, Precision::kFp16), name_of);

TEST(Emulation, SeesABarrierThatOnlySomeThreadsReach) {
  const auto half_of_them = [] {
    if (threadIdx.x % 2 == 0) __syncthreads();
  };
  EXPECT_EQ(emulated_launch(1, 8, nullptr, half_of_them), cudaErrorLaunchFailure);
  EXPECT_EQ(emulated_launch(1, 8, nullptr, [] { __syncthreads(); }), cudaSuccess);
}

TEST(Emulation, PassesBarriersTogether) {
  static int seen[64];
  const auto kernel = [] {
    const unsigned i = threadIdx.x + blockDim.x * threadIdx.y;
    seen[i] = static_cast<int>(i);
    __syncthreads();
    const int other = seen[63 - i];
    __syncthreads();
    seen[i] = other;
  };
  ASSERT_EQ(emulated_launch(dim3(2), dim3(16, 4), nullptr, kernel), cudaSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(seen[i], 63 - i);
}

}  // namespace
}  // namespace hios
