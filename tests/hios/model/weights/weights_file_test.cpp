#include "hios/model/weights/weights_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hios/base/json/json_io.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

using Floats = std::vector<float>;

/// A convolution of groups with a bias, one without, an operator with a constant, and a norm.
Model small_model() {
  ModelBuilder b("small", {1, 4, 5, 6});
  const TensorId first = b.conv("first", b.input(), {6, {3, 2}, {1, 1}, {1, 1}, 2});
  const TensorId scaled = b.add(
      "scaled", Binary{.function = Binary::Function::kMul, .constant = Shape{1, 6, 1, 7}}, {first});
  b.relu("relu", scaled);
  return std::move(b).build();
}

/// Distinct values for every parameter of a layer.
ModelWeights::Values values_of(const Layer& layer) {
  const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
  ModelWeights::Values values;
  for (std::int64_t i = 0; i < counts.weights; ++i) {
    values.weights.push_back(static_cast<float>(i) + 0.25f);
  }
  for (std::int64_t i = 0; i < counts.bias; ++i) values.bias.push_back(static_cast<float>(-i) - 1);
  return values;
}

class WeightsFile : public testing::Test {
 protected:
  std::filesystem::path written() {
    const auto file = folder_ / "w.safetensors";
    write_weights(file, model_, values_of, Existing::kReplace);
    return file;
  }
  /// Writes a file with this header, or this text for one, and so many bytes of values.
  std::filesystem::path put(const std::string& header, std::size_t values) {
    const std::uint64_t length = header.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return folder_.put("w.safetensors", bytes + header + std::string(values, '\1'));
  }
  /// Returns the header of what was written.
  Json header_of(const std::string& bytes) const {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    return Json::parse(bytes.substr(8, length));
  }
  void expect_refused(const std::filesystem::path& file, std::string_view words) {
    test::expect_error([&] { read_weights(file, model_); }, {"w.safetensors: ", words});
  }

  const Model model_ = small_model();
  test::TemporaryFolder folder_;
};

TEST_F(WeightsFile, ReadsWhatItWrote) {
  const ModelWeights weights = read_weights(written(), model_);
  for (const Layer& layer : model_.layers()) {
    const ModelWeights::Values expected = values_of(layer);
    if (expected.weights.empty()) {
      EXPECT_EQ(weights.find(layer.name), nullptr) << layer.name;
      continue;
    }
    ASSERT_NE(weights.find(layer.name), nullptr) << layer.name;
    EXPECT_EQ(weights.find(layer.name)->weights, expected.weights) << layer.name;
    EXPECT_EQ(weights.find(layer.name)->bias, expected.bias) << layer.name;
  }
}

// Names, shapes and order are ONNX's, by which other programs know them.
TEST_F(WeightsFile, ContentIsThatOfAnOnnxFile) {
  const std::string bytes = test::content_of(written());
  const Json header = header_of(bytes);
  EXPECT_EQ(header["first_weight"]["shape"], Json({6, 2, 3, 2}));
  EXPECT_EQ(header["first_weight"]["dtype"], "F32");
  EXPECT_EQ(header["first_bias"]["shape"], Json({6}));
  EXPECT_EQ(header["scaled_constant"]["shape"], Json({1, 6, 1, 7}));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0u);
  // The model keeps its constant as NHWC, the file as NCHW: channel 0 has the model's values 0
  // and 6.
  const auto begin = header["scaled_constant"]["data_offsets"][0].get<std::size_t>();
  Floats two(2);
  std::memcpy(two.data(), bytes.data() + 8 + length + begin, 8);
  EXPECT_EQ(two, (Floats{0.25f, 6.25f}));
}

TEST_F(WeightsFile, CutsAndOtherFilesAreRefused) {
  const std::string whole = test::content_of(written());
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}}) {
    expect_refused(folder_.put("w.safetensors", whole.substr(0, size)), "fewer than 8 bytes");
  }
  expect_refused(folder_.put("w.safetensors", whole.substr(0, 40)), "would end after the file");
  expect_refused(folder_.put("w.safetensors", whole.substr(0, whole.size() - 4)),
                 "data_offsets[1]");
  expect_refused(folder_.put("w.safetensors", "\x89PNG\r\n\x1a\n and more"), "safetensors file");
  expect_refused(put("[1, 2]", 0), "$");
  expect_refused(put("{", 0), "its header");
  expect_refused(put(std::string(2'000'000, ' '), 0), "has 2000000 bytes, and at most ");
  expect_refused(put("", 100), "its header has 0 bytes");
  ReadLimits little;
  little.memory = 1000;
  const auto file = written();
  test::expect_error([&] { read_weights(file, model_, little); },
                     {"w.safetensors: reading it takes"});
}

TEST_F(WeightsFile, MistakesInTheHeaderAreNamed) {
  const std::string bytes = test::content_of(written());
  const Json good = header_of(bytes);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const std::size_t values = bytes.size() - 8 - length;
  const auto refused = [&](auto&& change, std::string_view words) {
    Json header = good;
    change(header);
    expect_refused(put(header.dump(), values), words);
  };
  refused(
      [](Json& h) {
        h["first_bias"]["data_offsets"][0] = 0;
        h.erase("first_weight");
      },
      "has no tensor first_weight");
  refused([](Json& h) { h.erase("first_bias"); }, "has bytes of no tensor before scaled_constant");
  refused([](Json& h) { h.erase("scaled_constant"); }, "bytes of no tensor at its end");
  refused([](Json& h) { h["first_bias"]["shape"] = Json::array_t(9, 1); }, "has 9 extents");
  refused([](Json& h) { h["__metadata__"] = {{"format", 3}}; }, "__metadata__");
  refused([](Json& h) { h["first_weight"]["dtype"] = "BF16"; },
          "first_weight has the type BF16, not F32");
  refused(
      [](Json& h) {
        h["first_weight"]["shape"] = {2, 6, 3, 2};
      },
      "first_weight has the shape 2x6x3x2, and the layer needs 6x2x3x2");
  refused([](Json& h) { h["first_bias"]["data_offsets"] = h["first_weight"]["data_offsets"]; },
          "overlaps another");
  refused([](Json& h) { h["first_bias"]["data_offsets"] = {24, 0}; }, "data_offsets[1]");
  refused([](Json& h) { h["first_bias"]["data_offsets"] = {0}; }, "no two data_offsets");
  refused([](Json& h) { h["first_bias"]["data_offsets"][1] = std::int64_t{1} << 60; },
          "data_offsets[1]");
  refused([](Json& h) { h["first_bias"].erase("dtype"); }, "dtype");
  refused([](Json& h) { h["first_bias"]["shape"] = "six"; }, "shape");
  refused(
      [](Json& h) {
        h["other"] = {{"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
      },
      "the tensor other belongs to no layer");
  refused(
      [](Json& h) {
        const auto begin = h["first_bias"]["data_offsets"][0].get<int>() + 4;
        h["first_weight"]["data_offsets"][1] = begin;
        h["first_bias"]["data_offsets"][0] = begin;
      },
      "first_weight has 292 bytes, which its shape does not give");
}

// A run would compute with them and say nothing. The largest number is one.
TEST_F(WeightsFile, NaNsAndInfinitiesAreNamed) {
  const auto with = [&](float value, std::size_t index) {
    const auto values = [&](const Layer& layer) {
      ModelWeights::Values all = values_of(layer);
      if (layer.name == "first") all.bias[index] = value;
      return all;
    };
    const auto file = folder_ / "w.safetensors";
    write_weights(file, model_, values, Existing::kReplace);
    return file;
  };
  using Limits = std::numeric_limits<float>;
  expect_refused(with(Limits::quiet_NaN(), 5),
                 "the tensor first_bias has a NaN as value 5 of 6; write the file again");
  expect_refused(with(-Limits::infinity(), 0), "first_bias has an infinity as value 0 of 6");
  for (const float value : {-Limits::max(), Limits::denorm_min(), -0.0f}) {
    EXPECT_EQ(read_weights(with(value, 2), model_).find("first")->bias[2], value);
  }
}

TEST_F(WeightsFile, AModelTakesThem) {
  const Model with = model_.with_weights(read_weights(written(), model_));
  ASSERT_NE(with.weights(), nullptr);
  EXPECT_EQ(model_.weights(), nullptr) << "the model itself is as before";
  EXPECT_EQ(with.weights()->find("first")->bias.front(), -1);
}

}  // namespace
}  // namespace hios
