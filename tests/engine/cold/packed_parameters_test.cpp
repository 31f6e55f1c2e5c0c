#include "engine/cold/packed_parameters.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/need.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

using PartBytes = std::vector<std::byte>;

PartBytes bytes_of(std::size_t size, int first) {
  PartBytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i + first);
  return bytes;
}

class PackedParametersTest : public testing::Test {
 protected:
  std::filesystem::path write(const Json& backend) {
    const std::vector<ParameterPart> parts{
        {"a.0", a_}, {"a.1", small_}, {"b.0", b_}, {"c.0", same_as_a_}, {"d.0", {}}};
    const auto file = packed_file_of(folder_ / "w.safetensors");
    write_packed(file, backend, parts, Existing::kReplace);
    return file;
  }
  PackedParameters open(const std::filesystem::path& file) const {
    return PackedParameters(file, backend_, 100, {});
  }
  void expect_stale(const std::filesystem::path& file, std::string_view words) {
    try {
      open(file);
      ADD_FAILURE() << "no error: " << words;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::holds_alternative<need::PackedWeights>(error.need())) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  const PartBytes a_ = bytes_of(9000, 1), small_ = bytes_of(4, 2), b_ = bytes_of(100'000, 3),
                  same_as_a_ = a_;
  const Json backend_ = {{"library", "L 1.0"}, {"isa", "avx2"}, {"threads", 2}};
  test::TemporaryFolder folder_;
};

TEST_F(PackedParametersTest, FindsEachPartByItsContent) {
  const auto path = write(backend_);
  const std::string content = test::content_of(path);
  const PackedParameters packed = open(path);
  for (const PartBytes* const part : {&a_, &small_, &b_}) {
    const Stretch found = packed.find(*part, "x");
    ASSERT_EQ(found.size_bytes, part->size());
    EXPECT_EQ(content.compare(found.offset, found.size_bytes,
                              reinterpret_cast<const char*>(part->data()), part->size()),
              0);
  }
  EXPECT_EQ(packed.find(same_as_a_, "c").offset, packed.find(a_, "a").offset);
  EXPECT_LT(content.size(), a_.size() + b_.size() + 9000) << "equal parts are written once";
  EXPECT_EQ(packed.find(a_, "a").offset % DirectFile::kAlignment, 0u);
  EXPECT_EQ(packed.find(b_, "b").offset % DirectFile::kAlignment, 0u) << "a large one";
}

TEST_F(PackedParametersTest, OtherBytesAreNotFoundAndNamed) {
  const PackedParameters packed = open(write(backend_));
  test::expect_error([&] { static_cast<void>(packed.find(bytes_of(9000, 5), "conv_7")); },
                     {"w.safetensors.packed: has no parameters of conv_7 as this run"});
  test::expect_error([&] { static_cast<void>(packed.find(bytes_of(8999, 1), "conv_7")); },
                     {"conv_7"});
}

TEST_F(PackedParametersTest, AStaleFileIsRefusedByWhatDiffers) {
  Json other = backend_;
  other["isa"] = "avx512_core";
  expect_stale(write(other),
               "is packed for another isa: \"avx512_core\", and this run has "
               "\"avx2\"");
  other = backend_;
  other["library"] = "L 1.1";
  expect_stale(write(other), "another library: \"L 1.1\"");
  other = backend_;
  other["threads"] = 7;
  open(write(other));  // layouts do not depend on it, or are not found
}

TEST_F(PackedParametersTest, OtherFilesAreRefused) {
  expect_stale(folder_ / "w.safetensors.packed", "cannot be read");
  expect_stale(folder_.put("w.safetensors.packed", ""), "fewer than 8 bytes");
  const std::string whole = test::content_of(write(backend_));
  expect_stale(folder_.put("w.safetensors.packed", whole.substr(0, whole.size() - 1)),
               "data_offsets[1]");
  expect_stale(folder_.put("w.safetensors.packed", whole.substr(0, 100)), "was cut");
  std::string other = whole;
  other.replace(other.find("hios-packed"), 11, "hios-packet");
  expect_stale(folder_.put("w.safetensors.packed", other), "its format is \"hios-packet\"");
  other = whole;
  other.replace(other.find("\"version\":\"1\""), 13, "\"version\":\"2\"");
  expect_stale(folder_.put("w.safetensors.packed", other), "packed weights of version \"2\"");
  expect_stale(folder_.put("w.safetensors.packed", std::string("\x02\0\0\0\0\0\0\0{}", 10)),
               "has no packed weights: its format is \"none\"");
}

}  // namespace
}  // namespace hios
