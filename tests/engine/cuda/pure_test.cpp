// Decisions of the CUDA backend before any call of CUDA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cuda/device/device.h"
#include "engine/cuda/operators/autotune.h"
#include "engine/cuda/operators/autotune_timer.h"
#include "engine/cuda/operators/operators.h"
#include "support/expect_error.h"
#include "support/layers/layer_operations.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

using cuda::CombineTask;

std::optional<cuda::ConvolutionProblem> problem(const test::OperationCase& operation_case,
                                                Precision precision = Precision::kFp32) {
  return cuda::problem_of(operation_case.model,
                          std::get<ConvolutionChain>(operation_case.layers.form), precision);
}

TEST(ConvolutionKey, NamesEverythingThatTheArithmeticDependsOn) {
  const Conv conv{20, {3, 2}, {2, 1}, {1, 0}, 4};
  const auto relu_conv_relu = test::make_operation(
      "all", {2, 8, 9, 7}, {}, [&](ModelBuilder& b, std::span<const TensorId> x) {
        b.relu("after", b.conv("conv", b.relu("before", x[0]), conv));
      });
  EXPECT_EQ(problem(relu_conv_relu)->key(),
            "conv 2x9x7x8 -> 5x6x20 k3x2 s2x1 p1x0 g4 relu-before b relu fp32");
  EXPECT_EQ(problem(relu_conv_relu, Precision::kFp16)->key(),
            "conv 2x9x7x8 -> 5x6x20 k3x2 s2x1 p1x0 g4 relu-before b relu fp16");
  EXPECT_TRUE(problem(relu_conv_relu, Precision::kTf32)->key().ends_with(" tf32"));
}

TEST(ConvolutionKey, NamesAnAddendThatTheConvolutionsAlgorithmAdds) {
  const auto added = [](const Conv& conv, const std::function<void(ModelBuilder&, TensorId)>& end) {
    return problem(test::make_operation("added", {1, 16, 7, 9}, {16, 16},
                                        [&](ModelBuilder& b, std::span<const TensorId> x) {
                                          end(b, b.sum("sum", {b.conv("conv", x[0], conv), x[1]}));
                                        }));
  };
  const Conv pointwise{16, {1, 1}, {1, 1}, {0, 0}};
  const auto nothing = [](ModelBuilder&, TensorId) {};
  const auto relu = [](ModelBuilder& b, TensorId sum) { b.relu("relu", sum); };
  EXPECT_TRUE(added(pointwise, nothing)->key().ends_with(" g1 b add fp32"));
  EXPECT_TRUE(added(pointwise, relu)->key().ends_with(" g1 b add relu fp32"));
  const auto before = added(pointwise, relu)->before_addend();
  EXPECT_TRUE(before.key().ends_with(" g1 b fp32")) << before.key();
  EXPECT_EQ(before.before_addend().key(), before.key());
  EXPECT_FALSE(added({16, {3, 3}, {1, 1}, {1, 1}, 16}, relu).has_value()) << "depthwise";
}

TEST(ConvolutionKey, NamesDistancesBetweenTapsWhereTheyAreNotNext) {
  const Conv conv{12, {3, 3}, {1, 1}, {Extent{2, 0}, Extent{3, 2}}, 1, false, {2, 1}};
  const auto spread = test::make_operation(
      "spread", {1, 8, 9, 7}, {},
      [&](ModelBuilder& b, std::span<const TensorId> x) { b.conv("conv", x[0], conv); });
  EXPECT_EQ(problem(spread)->key(), "conv 1x9x7x8 -> 10x7x12 k3x3 s1x1 p2x0 g1 d2x1 fp32");
}

/// The padding after the input, as given to a library's graph.
TEST(EndPadding, EqualsTheBeginPaddingWhereTheOutputFits) {
  const auto padded = [](const Shape& input, const Conv& conv) {
    return *problem(test::make_operation(
        "padded", input, {},
        [&](ModelBuilder& b, std::span<const TensorId> x) { b.conv("conv", x[0], conv); }));
  };
  const auto even = padded({1, 4, 9, 8}, {4, {3, 3}, {2, 2}, {1, 1}});
  EXPECT_TRUE(even.evenly_padded());
  EXPECT_EQ(even.end_pad_h(), 1);
  EXPECT_EQ(even.end_pad_w(), 1) << "though the last column of windows reads none of it";
  const auto after = padded({1, 4, 8, 8}, {4, {3, 3}, {2, 2}, {Extent{0, 0}, Extent{1, 1}}});
  EXPECT_FALSE(after.evenly_padded());
  EXPECT_EQ(after.end_pad_h(), 1);
  const auto in_front = padded({1, 4, 8, 8}, {4, {3, 3}, {1, 1}, {Extent{2, 1}, Extent{0, 1}}});
  EXPECT_FALSE(in_front.evenly_padded());
  EXPECT_EQ(in_front.end_pad_h(), 0);
  EXPECT_EQ(in_front.end_pad_w(), 1);
  // One tap that never reaches the image is still a window.
  const auto one_tap = padded({1, 8, 5, 4}, {9, {1, 1}, {1, 1}, {Extent{0, 0}, Extent{0, 2}}});
  EXPECT_EQ(one_tap.end_pad_w(), 2);
  EXPECT_FALSE(one_tap.pointwise());
}

TEST(ReluFirst, TakesRoomForTheInputsElements) {
  const auto relu_conv = test::make_operation(
      "two", {1, 8, 16, 16}, {}, [](ModelBuilder& b, std::span<const TensorId> x) {
        b.conv("conv", b.relu("before", x[0]), Conv{4, {1, 1}, {1, 1}, {0, 0}});
      });
  const auto bytes = [&](Precision precision) {
    return cuda::ReluFirst(*problem(relu_conv, precision)).workspace_bytes();
  };
  EXPECT_EQ(bytes(Precision::kFp32), 8u * 16 * 16 * 4);
  EXPECT_EQ(bytes(Precision::kTf32), 8u * 16 * 16 * 4);
  EXPECT_EQ(bytes(Precision::kFp16), 8u * 16 * 16 * 2);
}

TEST(TrialSets, AreLargerThanTheCacheWhereMemoryAllows) {
  constexpr Bytes kMiB = Bytes{1} << 20;
  EXPECT_EQ(cuda::trial_sets(kMiB, 50 * kMiB, 10000 * kMiB), 51u);
  EXPECT_EQ(cuda::trial_sets(60 * kMiB, 50 * kMiB, 10000 * kMiB), 2u);
  EXPECT_EQ(cuda::trial_sets(45 * kMiB, 50 * kMiB, 10000 * kMiB), 3u)
      << "one other does not fill it";
  EXPECT_EQ(cuda::trial_sets(kMiB, 50 * kMiB, 40 * kMiB), 10u) << "a quarter of what is free";
  EXPECT_EQ(cuda::trial_sets(kMiB, 50 * kMiB, 0), 1u);
  EXPECT_EQ(cuda::trial_sets(256, 50 * kMiB, 10000 * kMiB), 512u);
}

TEST(ConvolutionKey, TakesThePointwiseHalfOfASeparableOne) {
  const auto separable = test::make_operation(
      "separable", {1, 8, 6, 6}, {}, [&](ModelBuilder& b, std::span<const TensorId> x) {
        const Conv depthwise{8, {3, 3}, {2, 2}, {1, 1}, 8};
        const Conv pointwise{12, {1, 1}, {1, 1}, {0, 0}, 1, false};
        b.conv("pointwise", b.conv("depthwise", b.relu("relu", x[0]), depthwise), pointwise);
      });
  EXPECT_EQ(problem(separable)->key(), "conv 1x3x3x8 -> 3x3x12 k1x1 s1x1 p0x0 g1 fp32");
  EXPECT_TRUE(problem(separable)->pointwise());
}

TEST(ConvolutionKey, ADepthwiseOneByItselfHasNone) {
  const auto depthwise = test::make_operation(
      "depthwise", {1, 8, 6, 6}, {}, [&](ModelBuilder& b, std::span<const TensorId> x) {
        b.conv("depthwise", x[0], Conv{8, {3, 3}, {1, 1}, {1, 1}, 8});
      });
  EXPECT_FALSE(problem(depthwise).has_value());
}

/// Returns `ranges` sums of `terms` tensors, the channels of each being the range's index plus one.
std::vector<std::vector<Source>> ranges_of(std::size_t ranges, std::size_t terms) {
  static const std::vector<std::byte> somewhere(1 << 10);
  std::vector<std::vector<Source>> result;
  const std::byte* next = somewhere.data();
  for (std::size_t range = 0; range < ranges; ++range) {
    auto& sources = result.emplace_back();
    const Shape shape{1, static_cast<std::int64_t>(range) + 1, 2, 2};
    for (std::size_t term = 0; term < terms; ++term) sources.push_back({next++, shape});
  }
  return result;
}

TEST(CombineTasks, CoverEveryRangeOnceHoweverMany) {
  for (const auto& [ranges, terms] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {16, 1}, {17, 1}, {40, 5}, {3, 96}, {7, 50}}) {
    SCOPED_TRACE(std::to_string(ranges) + " ranges of " + std::to_string(terms));
    const std::vector<std::vector<Source>> all = ranges_of(ranges, terms);
    const auto channels = static_cast<std::int64_t>(ranges * (ranges + 1) / 2);
    const auto tasks =
        cuda::combine_tasks(all, false, {1, channels, 2, 2}, cuda::Element::kHalf, nullptr);
    std::size_t seen = 0;
    int first_channel = 0;
    for (const CombineTask& task : tasks) {
      EXPECT_EQ(task.element, cuda::Element::kHalf);
      ASSERT_LE(task.ranges, CombineTask::kMaxRanges);
      ASSERT_LE(task.first_term[task.ranges], CombineTask::kMaxTerms);
      for (int range = 0; range < task.ranges; ++range, ++seen) {
        const auto& sources = all.at(seen);
        EXPECT_EQ(task.first_channel[range], first_channel);
        EXPECT_EQ(task.channels[range], sources.front().shape.c);
        first_channel += task.channels[range];
        ASSERT_EQ(task.first_term[range + 1] - task.first_term[range],
                  static_cast<int>(sources.size()));
        for (std::size_t term = 0; term < sources.size(); ++term) {
          EXPECT_EQ(task.terms[task.first_term[range] + static_cast<int>(term)],
                    sources[term].data);
        }
      }
    }
    EXPECT_EQ(seen, ranges);
  }
}

TEST(CombineTasks, ReadSlicesWhereTheyBegin) {
  std::array<std::byte, 64> values{};
  const Source slice{values.data(), {1, 3, 2, 2}, 5, 12}, whole{values.data(), {1, 4, 2, 2}};
  const auto tasks =
      cuda::combine_tasks({{slice}, {whole}}, false, {1, 7, 2, 2}, cuda::Element::kHalf, nullptr);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].terms[0], values.data() + 10);
  EXPECT_EQ(tasks[0].term_channels[0], 12);
  EXPECT_EQ(tasks[0].channels[0], 3);
  EXPECT_EQ(tasks[0].terms[1], values.data());
  EXPECT_EQ(tasks[0].term_channels[1], 4);
  EXPECT_EQ(tasks[0].first_channel[1], 3);
}

TEST(Refusal, KnowsWhatTheKernelsCannotCount) {
  for (const test::OperationCase& one : test::operation_cases()) {
    EXPECT_FALSE(cuda::refusal(one.operation()).has_value()) << one.name;
  }
  for (const test::OperationCase& one : test::layer_operation_cases()) {
    EXPECT_FALSE(cuda::refusal(one.operation()).has_value()) << one.name;
  }
  const std::vector<std::int64_t> many(CombineTask::kMaxTerms + 1, 4);
  const auto sum = test::make_operation("sum", {1, 3, 2, 2}, many,
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.sum("sum", {x.begin(), x.end()});
                                        });
  EXPECT_THAT(cuda::refusal(sum.operation()).value_or(""), testing::HasSubstr("96 tensors"));
  const auto large = test::make_operation(
      "large", {1, 64, 8192, 8192}, {},
      [](ModelBuilder& b, std::span<const TensorId> x) { b.relu("relu", x[0]); });
  EXPECT_THAT(cuda::refusal(large.operation()).value_or(""), testing::HasSubstr("2^31"));
}

TEST(Algorithms, MustBeAnObjectOfTexts) {
  test::expect_error([] { cuda::Algorithms(Json::array(), true); }, {"not an object of strings"});
  test::expect_error(
      [] {
        cuda::Algorithms({{"conv 1", 3}}, true);
      },
      {"\"conv 1\"", "not a string"});
}

TEST(AlgorithmNames, AreTakenApartOrRefused) {
  EXPECT_THAT(cuda::words_of("cudnn 1 3 fused"), testing::ElementsAre("1", "3", "fused"));
  EXPECT_EQ(cuda::number_of("17", "own 17 1"), 17);
  for (const char* const word : {"", "-1", "1x", "99999999999"}) {
    test::expect_error<RunError>([&] { cuda::number_of(word, "own ? 1"); }, {"own ? 1"});
  }
}

TEST(Hex, ComesBackAsItWas) {
  std::array<unsigned char, 256> bytes{}, back{};
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  const std::string text = cuda::to_hex(bytes.data(), bytes.size());
  cuda::from_hex(text, back.data(), back.size());
  EXPECT_EQ(back, bytes);
  for (const std::string& wrong : {text.substr(1), text + "0", "g" + text.substr(1)}) {
    test::expect_error<RunError>([&] { cuda::from_hex(wrong, back.data(), back.size()); },
                                 {"256 bytes"});
  }
}

TEST(SharedBlocks, FindTheBlockOfAnAddress) {
  std::array<std::byte, 64> memory;
  cuda::SharedBlocks blocks;
  blocks.add(&memory[8], 16);
  blocks.add(&memory[32], 8);
  EXPECT_EQ(blocks.find(&memory[8]).offset, 0u);
  EXPECT_EQ(blocks.find(&memory[23]).block, &memory[8]);
  EXPECT_EQ(blocks.find(&memory[39]).offset, 7u);
  for (const std::size_t outside : {0u, 24u, 40u}) {
    test::expect_error<RunError>([&] { blocks.find(&memory[outside]); }, {"not one of"});
  }
  blocks.remove(&memory[32]);
  test::expect_error<RunError>([&] { blocks.find(&memory[32]); }, {"not one of"});
}

}  // namespace
}  // namespace hios
