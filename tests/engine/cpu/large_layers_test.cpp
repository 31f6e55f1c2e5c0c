// Layers with enough values for a division among threads, and with reductions long enough for a
// division into parts: right, and the same bits on any number of threads.
#include <gtest/gtest.h>

#include "engine/cpu/cpu_backend.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

constexpr std::uint64_t kLargeLayerSeed = 11;

struct LargeLayer {
  const char* name;
  std::vector<Shape> inputs;
  LayerKind kind;
};

Pool average(bool count_padding) {
  return {Pool::Kind::kAverage, {3, 3}, {2, 2}, {1, 1}, {}, true, count_padding};
}

std::vector<LargeLayer> large_layers() {
  const Shape image{1, 33, 57, 61}, deep{2, 96, 31, 29}, wide{1, 3, 211, 197}, flat{1, 70000, 1, 1};
  const Axes n{.n = true}, c{.c = true}, h{.h = true}, hw{.h = true, .w = true},
      chw{.c = true, .h = true, .w = true}, all{true, true, true, true};
  using Function = Reduce::Function;
  return {
      {"sigmoid", {image}, Unary{Unary::Function::kSigmoid}},
      {"round", {image}, Unary{Unary::Function::kRound}},
      {"mul_equal", {image, image}, Binary{Binary::Function::kMul, {}, false}},
      {"mul_by_channel", {deep, {2, 96, 1, 1}}, Binary{Binary::Function::kMul, {}, false}},
      {"add_by_pixel", {{1, 1, 31, 29}, {2, 5, 31, 29}}, Binary{Binary::Function::kAdd, {}, false}},
      {"div_constant", {deep}, Binary{Binary::Function::kDiv, Shape{1, 96, 1, 1}, false}},
      {"sub_from_constant", {wide}, Binary{Binary::Function::kSub, Shape{1, 1, 1, 1}, true}},
      {"softmax_channels", {deep}, Softmax{c}},
      {"softmax_image", {deep}, Softmax{hw}},
      {"softmax_everything", {image}, Softmax{all}},
      {"log_softmax_everything", {flat}, Softmax{all, true}},
      {"mean_image", {wide}, Reduce{Function::kMean, hw}},
      {"mean_image_deep", {deep}, Reduce{Function::kMean, hw}},
      {"mean_channels", {deep}, Reduce{Function::kMean, c}},
      {"sum_images", {{17, 5, 30, 31}}, Reduce{Function::kSum, n}},
      {"sum_rows", {deep}, Reduce{Function::kSum, h}},
      {"l2_everything", {image}, Reduce{Function::kL2, all}},
      {"max_everything", {flat}, Reduce{Function::kMax, all}},
      {"min_image", {wide}, Reduce{Function::kMin, hw}},
      {"log_sum_exp_image", {wide}, Reduce{Function::kLogSumExp, hw}},
      {"instance_normalization",
       {wide},
       Normalization{hw, 0, 1e-5f, Shape{1, 3, 1, 1}, Shape{1, 3, 1, 1}}},
      {"instance_normalization_deep",
       {deep},
       Normalization{hw, 0, 1e-5f, Shape{1, 96, 1, 1}, Shape{1, 96, 1, 1}}},
      {"layer_normalization",
       {deep},
       Normalization{c, 0, 1e-5f, Shape{1, 96, 1, 1}, Shape{1, 96, 1, 1}}},
      {"layer_normalization_image",
       {image},
       Normalization{chw, 0, 1e-5f, Shape{1, 33, 57, 61}, Shape{1, 33, 57, 61}}},
      {"group_normalization",
       {deep},
       Normalization{hw, 8, 1e-5f, Shape{1, 96, 1, 1}, Shape{1, 96, 1, 1}}},
      {"local_response_normalization", {deep}, LocalResponseNormalization{5, 1e-3f, 0.75f, 1}},
      {"resize_linear",
       {image},
       Resize{.mode = Resize::Mode::kLinear, .size = {114, 122}, .scale_h = 2, .scale_w = 2}},
      {"resize_nearest",
       {image},
       Resize{.mode = Resize::Mode::kNearest, .size = {114, 122}, .scale_h = 2, .scale_w = 2}},
      {"pad_reflect", {image}, Pad{Pad::Mode::kReflect, {0, 0, 3, 2}, {0, 0, 1, 5}}},
      {"pad_channels", {image}, Pad{Pad::Mode::kConstant, {0, 2, 1, 0}, {1, 3, 0, 0}, 0.5f}},
      {"transpose", {deep}, Move{{2, 899, 8, 12}, {{2, 96 * 899}, {96, 1}, {899, 96}}, 0}},
      {"reshape", {flat}, Move{{1, 70, 10, 100}, {{70000, 1}}, 0}},
      {"repeat", {{1, 1, 40, 40}}, Move{{1, 40, 40, 40}, {{1600, 1}, {40, 0}}, 0}},
      // More output padding than a step, which oneDNN refuses.
      {"conv_transpose_by_our_loop",
       {deep},
       ConvTranspose{20, {3, 2}, {1, 2}, {2, 1}, {1, 2}, 4, true, {2, 3}}},
      {"concat_rows", {image, image}, Concat{Axis::kH}},
      {"concat_columns", {image, image}, Concat{Axis::kW}},
      {"average_pool", {image}, average(false)},
      {"average_pool_counts_padding", {image}, average(true)},
      {"max_pool_dilated",
       {image},
       Pool{Pool::Kind::kMax, {3, 3}, {1, 1}, {2, 2}, {2, 2}, true, false}},
  };
}

class CpuLargeLayer : public testing::TestWithParam<std::size_t> {};

TEST_P(CpuLargeLayer, IsRightAndTheSameBitsOnAnyNumberOfThreads) {
  const LargeLayer layer = large_layers().at(GetParam());
  SCOPED_TRACE(layer.name);
  const test::OperationCase operation = test::make_operation(
      layer.name, layer.inputs, [&](ModelBuilder& builder, std::span<const TensorId> inputs) {
        builder.add("layer", layer.kind, {inputs.begin(), inputs.end()});
      });
  const auto run = [&](Backend& backend, int threads) {
    return test::run_operation(backend, operation, threads, kLargeLayerSeed);
  };
  const auto exact = run(*reference::make_backend({}), 1);
  const auto alone = run(*test::cpu_backend(1), 1);
  const job::Comparison comparison = job::compare(alone, exact, {.atol = 1e-5, .rtol = 1e-5});
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
  for (const int threads : {2, 3, 5}) {
    SCOPED_TRACE(threads);
    const auto backend = test::cpu_backend(threads);
    EXPECT_TRUE(job::compare(run(*backend, threads), alone, {}).bitwise);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CpuLargeLayer, testing::Range<std::size_t>(0, large_layers().size()),
                         [](const auto& c) { return std::string(large_layers()[c.param].name); });

}  // namespace
}  // namespace hios
