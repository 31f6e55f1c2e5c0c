// Models whose large weights stay in their file, against what protobuf parses at once.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "hios/base/files/descriptor.h"
#include "hios/base/numbers/random.h"
#include "hios/onnx/parse.h"
#include "support/layers/onnx_builder.h"

namespace hios::onnx {
namespace {

using test::OnnxBuilder;

constexpr std::size_t kLargeBytes = (std::size_t{1} << 20) + 24;

/// A network with large and small weights in turns; the large ones' values repeat their letter.
proto::ModelProto large_weights() {
  OnnxBuilder b;
  test::small_net(b);
  for (const char letter : {'p', 'q', 'r'}) {
    auto& large = *b.graph().add_initializer();
    large.set_name(std::string("large_") + letter);
    large.set_data_type(proto::TensorProto::FLOAT);
    large.add_dims(kLargeBytes / 4);
    large.set_raw_data(std::string(kLargeBytes, letter));
    b.floats(std::string("small_") + letter, {2}, {1, 2});
  }
  return b.model;
}

struct Parsed {
  std::optional<StoredTensors> stored;
  proto::ModelProto model;
};

Parsed parse_bytes(const test::TemporaryFolder& folder, const std::string& bytes) {
  const std::string file = folder.put("model.onnx", bytes);
  const Descriptor open(::open(file.c_str(), O_RDONLY));
  Parsed parsed;
  parsed.stored = parse_model(open.get(), bytes.size(), parsed.model);
  return parsed;
}

/// Puts the values that stayed in the file back into the model. Returns how many there were.
std::size_t put_back(Parsed& parsed, const std::string& bytes) {
  std::size_t count = 0;
  for (auto& tensor : *parsed.model.mutable_graph()->mutable_initializer()) {
    const auto found = parsed.stored->find(&tensor);
    if (found == parsed.stored->end()) continue;
    tensor.set_raw_data(bytes.substr(found->second.offset, found->second.size));
    ++count;
  }
  return count;
}

TEST(Parse, LeavesLargeWeightsInTheFile) {
  const test::TemporaryFolder folder;
  const std::string bytes = large_weights().SerializeAsString();
  Parsed parsed = parse_bytes(folder, bytes);
  ASSERT_TRUE(parsed.stored);
  EXPECT_LT(parsed.model.ByteSizeLong(), std::size_t{2000});
  EXPECT_EQ(put_back(parsed, bytes), 3u);
  EXPECT_EQ(parsed.model.SerializeAsString(), bytes);
}

TEST(Parse, TakesAndRefusesWhatProtobufDoes) {
  const test::TemporaryFolder folder;
  const std::string whole = large_weights().SerializeAsString();
  constexpr std::uint64_t kSeed = 2611;
  std::printf("  seed %llu\n", static_cast<unsigned long long>(kSeed));
  Random random(kSeed);
  std::vector<std::size_t> places;  // few lie within the large values
  for (std::size_t at = 8; at + 8 < whole.size(); ++at) {
    if (whole[at - 8] != whole[at + 8] || at % 100'003 == 0) places.push_back(at);
  }
  int taken = 0, refused = 0;
  for (int i = 0; i < 60; ++i) {
    const std::size_t at = places[random.below(places.size())];
    std::string bytes = whole;
    if (i % 3 == 0) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(random.below(256));
    }
    Parsed parsed = parse_bytes(folder, bytes);
    proto::ModelProto expected;
    const bool good = expected.ParseFromString(bytes) && expected.has_graph();
    EXPECT_EQ(parsed.stored.has_value(), good) << i << " at " << at;
    if (parsed.stored && good) {
      put_back(parsed, bytes);
      EXPECT_EQ(parsed.model.SerializeAsString(), expected.SerializeAsString()) << i;
    }
    ++(good ? taken : refused);
  }
  std::printf("  %d taken, %d refused\n", taken, refused);
  EXPECT_GT(taken, 10);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace hios::onnx
