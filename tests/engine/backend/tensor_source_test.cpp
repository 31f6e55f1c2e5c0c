#include "engine/backend/tensor_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/base/digest.h"
#include "hios/model/networks/networks.h"
#include "support/networks/small_network.h"

namespace hios {
namespace {

using test::SmallNetwork;
using Floats = std::vector<float>;

const Layer& layer_of(const Model& model, std::string_view name) {
  const auto found = std::ranges::find(model.layers(), name, &Layer::name);
  if (found == model.layers().end()) throw std::runtime_error("no layer " + std::string(name));
  return *found;
}

Floats weights_of(const Model& model, std::string_view name, std::uint64_t seed) {
  const Layer& layer = layer_of(model, name);
  const Conv& conv = std::get<Conv>(layer.kind);
  const std::int64_t in = model.tensor(layer.inputs.front()).shape.c / conv.groups;
  Floats out(static_cast<std::size_t>(conv.out_channels * in * conv.kernel.h * conv.kernel.w));
  SeededSource(seed).weights(model, layer, out);
  return out;
}

Floats bias_of(const Model& model, std::string_view name, std::uint64_t seed) {
  const Layer& layer = layer_of(model, name);
  Floats out(static_cast<std::size_t>(std::get<Conv>(layer.kind).out_channels));
  SeededSource(seed).bias(model, layer, out);
  return out;
}

Floats input_of(const Model& model, std::uint64_t seed) {
  Floats out(static_cast<std::size_t>(model.tensor(model.input()).shape.elements()));
  SeededSource(seed).input(model, out);
  return out;
}

double mean_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double second_moment(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum / static_cast<double>(values.size());
}

constexpr Extent kOne{1, 1}, kThree{3, 3};

/// A convolution after each kind of layer that can precede one.
Model probe_model(std::int64_t batch = 1) {
  ModelBuilder b("probe", {batch, 64, 20, 20});
  const TensorId x = b.conv("plain", b.input(), {64, kThree, kOne, {0, 0}});
  b.conv("no_bias", x, {64, kOne, kOne, {0, 0}, 1, false});
  b.conv("padded", x, {64, kThree, kOne, kOne});
  b.conv("depthwise", x, {64, kThree, kOne, {0, 0}, 64});
  b.conv("after_relu", b.relu("relu", x), {64, kOne, kOne, {0, 0}});
  const TensorId other = b.conv("other", b.input(), {64, kThree, kOne, {0, 0}});
  b.conv("after_sum", b.sum("sum", {x, other}), {64, kOne, kOne, {0, 0}});
  const TensorId sums = b.sum("sums", {x, other, x, other, x, other, x});
  b.conv("after_concat", b.concat("concat", {x, sums}), {64, kOne, kOne, {0, 0}});
  return std::move(b).build();
}

// ---------------------------------------------------------------------------- same, other

TEST(SeededSource, GivesTheSameValuesToEveryRank) {
  const Model model = probe_model();
  EXPECT_EQ(weights_of(model, "plain", 7), weights_of(model, "plain", 7));
  EXPECT_EQ(bias_of(model, "plain", 7), bias_of(model, "plain", 7));
  EXPECT_EQ(input_of(model, 7), input_of(model, 7));
}

TEST(SeededSource, DiffersBySeedAndByLayer) {
  const Model model = probe_model();
  const Floats plain = weights_of(model, "plain", 7);
  EXPECT_NE(plain, weights_of(model, "plain", 8));
  EXPECT_NE(plain, weights_of(model, "other", 7));
  EXPECT_NE(bias_of(model, "plain", 7), bias_of(model, "other", 7));
  EXPECT_NE(input_of(model, 7), input_of(model, 8));
}

TEST(SeededSource, WeightsDoNotDependOnTheBatch) {
  const Model one = probe_model(1), three = probe_model(3);
  for (const char* name : {"plain", "padded", "depthwise", "after_concat"}) {
    EXPECT_EQ(weights_of(one, name, 7), weights_of(three, name, 7)) << name;
  }
  // The images of a batch differ; the first is that of a batch of one.
  const Floats image = input_of(one, 7), images = input_of(three, 7);
  const auto second = images.begin() + static_cast<std::ptrdiff_t>(image.size());
  EXPECT_TRUE(std::equal(image.begin(), image.end(), images.begin()));
  EXPECT_FALSE(std::equal(image.begin(), image.end(), second));
}

std::string digest(std::span<const float> values) {
  return Digest()
      .add(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()))
      .hex();
}

// Ranks on different machines must make the same bits: a compiler or option that changes them fails
// here.
TEST(SeededSource, BitsAreTheSameOnEveryMachine) {
  const Model model = probe_model();
  EXPECT_EQ(digest(weights_of(model, "plain", 1)), "8aa23961bb7707737c2c52d3d4a9b697");
  EXPECT_EQ(digest(weights_of(model, "padded", 1)), "7f2d17f26091562bc5d8e76c86c3ec01");
  EXPECT_EQ(digest(weights_of(model, "after_concat", 1)), "cfb87cdf42630a09bd8a715705d84920");
  EXPECT_EQ(digest(bias_of(model, "plain", 1)), "e6aff1360c242981070f7d53b0997a97");
  EXPECT_EQ(digest(input_of(model, 1)), "6b1acdfef84034995c56ea83a866a487");
}

TEST(SeededSource, FillsEveryElementOfAnyCount) {
  // No value is zero, so a missing one shows; and nothing is written after the end.
  const Model model = probe_model();
  const Layer& layer = layer_of(model, "plain");
  for (std::size_t count = 0; count <= 9; ++count) {
    Floats values(count + 1, 0.0f);
    SeededSource(3).weights(model, layer, std::span(values).first(count));
    for (std::size_t i = 0; i < count; ++i) EXPECT_NE(values[i], 0.0f) << i << " of " << count;
    EXPECT_EQ(values[count], 0.0f);
  }
}

// ---------------------------------------------------------------------------------- scale

TEST(SeededSource, WeightsHaveTheVarianceThatKeepsTheirLayersScale) {
  const Model model = probe_model();
  struct Expected {
    const char* name;
    double taps, fan_in, incoming, outgoing;
  };
  // 18 x 18 pixels with padding 1: of three taps in a row, (3·18 − 2) / 18 are inside on average.
  const double inside = (3 * 18 - 2) / 18.0;
  const Expected all[] = {
      {"plain", 9, 64, 1, 0.99},
      {"no_bias", 1, 64, 1, 1},
      {"padded", inside * inside, 64, 1, 0.99},
      {"depthwise", 9, 1, 1, 0.99},
      {"after_relu", 1, 64, 0.5, 0.99},
      {"after_sum", 1, 64, 2, 0.99},
      {"after_concat", 1, 128, (1 + 7) / 2.0, 0.99},
  };
  for (const Expected& e : all) {
    const Floats weights = weights_of(model, e.name, 5);
    const double variance = e.outgoing / (e.taps * e.fan_in * e.incoming);
    const double error = 4 / std::sqrt(static_cast<double>(weights.size()));  // four deviations
    EXPECT_NEAR(second_moment(weights) / variance, 1, error) << e.name;
    EXPECT_NEAR(mean_of(weights) / std::sqrt(variance), 0, error) << e.name;
  }
  EXPECT_NEAR(second_moment(bias_of(model, "plain", 5)), 0.01, 0.004);
}

TEST(SeededSource, ManyNestedSumsCostOnePass) {
  // Computed path by path this would be 2^60 paths.
  ModelBuilder b("sums", {1, 4, 2, 2});
  TensorId x = b.input();
  for (int i = 0; i < 60; ++i) x = b.sum("sum_" + std::to_string(i), {x, x});
  b.conv("conv", x, {4, kOne, kOne, {0, 0}});
  const Model model = std::move(b).build();
  for (const float weight : weights_of(model, "conv", 1)) EXPECT_TRUE(std::isfinite(weight));
}

TEST(SeededSource, AConvThatSeesOnlyPaddingHasFiniteWeights) {
  ModelBuilder b("padding", {1, 2, 1, 1});
  b.conv("conv", b.input(), {3, kOne, {2, 2}, kOne});
  const Model model = std::move(b).build();
  for (const float weight : weights_of(model, "conv", 1)) EXPECT_EQ(weight, 0.0f);
}

TEST(SeededSource, InputIsAnImageOfUnitScaleWithLargePatches) {
  ModelBuilder b("image", {1, 3, 256, 256});
  b.relu("relu", b.input());
  const Model model = std::move(b).build();
  const Floats image = input_of(model, 2);
  EXPECT_NEAR(second_moment(image), 1, 0.2);
  // The mean of a 64 x 64 patch keeps the variance of its largest size, 1/4; noise would keep
  // nearly nothing.
  Floats means;
  for (std::size_t h = 0; h < 256; h += 64) {
    for (std::size_t w = 0; w < 256; w += 64) {
      for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < 64 * 64; ++i) {
          sum += image[((h + i / 64) * 256 + w + i % 64) * 3 + c];
        }
        means.push_back(static_cast<float>(sum / (64 * 64)));
      }
    }
  }
  EXPECT_NEAR(second_moment(means), 0.25, 0.15);
}

// ------------------------------------------------------------------------------- networks

/// The images of the batch that every network runs.
enum Image : std::size_t { kPlain, kOther, kTouched, kFaint, kImages };
constexpr float kTouch = 1;         ///< added to one channel of kTouched's middle pixel
constexpr float kError = 0x1p-10f;  ///< the factor of kOther that is added to kPlain in kFaint

/// kPlain and kOther are the source's own first two images; the others are kPlain with small
/// changes.
class FourImages final : public TensorSource {
 public:
  explicit FourImages(std::uint64_t seed) : source_(seed) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    source_.weights(model, layer, out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    source_.bias(model, layer, out);
  }
  void input(const Model& model, std::span<float> out) override {
    source_.input(model, out);
    const std::size_t size = out.size() / kImages;
    for (std::size_t i = 0; i < size; ++i) {
      out[kTouched * size + i] = out[i];
      out[kFaint * size + i] = out[i] + kError * out[kOther * size + i];
    }
    out[kTouched * size + size / 2] += kTouch;
  }

 private:
  SeededSource source_;
};

class Networks : public testing::TestWithParam<SmallNetwork> {
 protected:
  static constexpr std::uint64_t kSeed = 4;

  Floats image(OpId op, Image which) const {
    const Floats all = run_.output(op);
    const auto size = static_cast<std::ptrdiff_t>(all.size() / kImages);
    return {all.begin() + which * size, all.begin() + (which + 1) * size};
  }

  Model model_ = models::find(GetParam().name)->build(kImages, GetParam().size, GetParam().size);
  CoarseGraph coarse_ = coarsen(model_);
  std::unique_ptr<Backend> backend_ = reference::make_backend({});
  FourImages source_{kSeed};
  job::OneRankRun run_{coarse_, model_, *backend_, std::vector<int>(coarse_.graph.size(), 1),
                       source_, ""};
};

/// The difference of two images, relative to the scale of the first.
double relative_difference(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  }
  return std::sqrt(difference / static_cast<double>(a.size()) / second_moment(a));
}

/// The differences between the means of channels, relative to the scale of the values.
double channel_spread(std::span<const float> values, std::int64_t channels) {
  Floats means(static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < values.size(); ++i) means[i % means.size()] += values[i];
  const double pixels = static_cast<double>(values.size()) / static_cast<double>(channels);
  for (float& mean : means) mean = static_cast<float>(mean / pixels);
  const double all = mean_of(means);
  return std::sqrt(std::max(0.0, second_moment(means) - all * all) / second_moment(values));
}

// In one test, because the run takes most of the time.
TEST_P(Networks, KeepValuesAliveChannelsAndInputsApartAndErrorsSmall) {
  for (const OpId op : coarse_.graph.topological()) {
    SCOPED_TRACE(coarse_.graph.op(op).name + ", seed " + std::to_string(kSeed));
    const Floats all = run_.output(op), values = image(op, kPlain);
    ASSERT_TRUE(std::ranges::all_of(all, [](float v) { return std::isfinite(v); }));
    const double scale = std::sqrt(second_moment(values));
    EXPECT_GE(scale, 0.1);
    EXPECT_LE(scale, 10);
    EXPECT_LE(std::ranges::count(values, 0.0f), 0.8 * static_cast<double>(values.size()));
    EXPECT_GE(channel_spread(values, model_.tensor(coarse_.layers(op).output).shape.c), 0.05);
    EXPECT_GE(relative_difference(values, image(op, kOther)), 0.02);
  }

  // A change of one pixel shows at the end, and a small error keeps its size approximately, so that
  // fp32 is comparable with the reference.
  const OpId last = *coarse_.producer(model_.outputs().front());
  EXPECT_GE(relative_difference(image(last, kPlain), image(last, kTouched)), 1e-6);
  const double error = relative_difference(image(last, kPlain), image(last, kFaint));
  EXPECT_GE(error, kError / 20);
  EXPECT_LE(error, kError * 5);
}

INSTANTIATE_TEST_SUITE_P(All, Networks,
                         testing::Values(SmallNetwork{"inception_v3", 75},
                                         SmallNetwork{"nasnet_large", 33},
                                         SmallNetwork{"squeezenet", 48},
                                         SmallNetwork{"randwire_large", 33}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace hios
