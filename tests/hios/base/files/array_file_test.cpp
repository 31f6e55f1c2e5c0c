#include "hios/base/files/array_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hios/base/files/npy.h"
#include "hios/base/need.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

using Dims = std::vector<std::int64_t>;

class ArrayFile : public testing::Test {
 protected:
  std::vector<float> read(const std::string& name, const Dims& dims,
                          const ReadLimits& limits = {}) const {
    return read_array(folder_ / name, dims, "the model takes", limits);
  }
  void put(const std::string& name, const std::vector<float>& values) const {
    folder_.put(name, {reinterpret_cast<const char*>(values.data()), values.size() * 4});
  }
  test::TemporaryFolder folder_;
};

TEST_F(ArrayFile, RawValuesHaveTheWantedExtents) {
  const std::vector<float> values = {1, -2.5F, 0, 1e-30F, 4, std::numeric_limits<float>::max()};
  put("x.bin", values);
  EXPECT_EQ(read("x.bin", {1, 2, 3}), values);
  EXPECT_EQ(read("x.bin", {6}), values);
  put("one.bin", {7});
  EXPECT_EQ(read("one.bin", {}), std::vector<float>{7});
}

TEST_F(ArrayFile, ArraysWithAHeaderAreReadAsSuch) {
  const std::vector<float> values = {1, 2, 3, 4};
  write_npy(folder_ / "x.npy", Dims{2, 2}, values, Existing::kRefuse);
  EXPECT_EQ(read("x.npy", {2, 2}), values);
  test::expect_error([&] { read("x.npy", {4}); },
                     {"x.npy: holds 2x2 where the model takes 4 (float32, 16 bytes)"});
  test::expect_need([&] { read("x.npy", {4, 1}); }, need::ArrayOf{16});
}

TEST_F(ArrayFile, AnotherSizeIsRefusedWithTheWantedBytes) {
  put("x.bin", {1, 2, 3});
  test::expect_error(
      [&] {
        read("x.bin", {2, 2});
      },
      {"x.bin: holds 12 bytes where the model takes 2x2 (float32, 16 bytes)"});
  test::expect_error([&] { read("x.bin", {}); }, {"takes a single value (float32, 4 bytes)"});
  test::expect_need([&] { read("x.bin", {2, 2}); }, need::ArrayOf{16});
  folder_.put("cut.bin", "123");
  test::expect_error([&] { read("cut.bin", {1}); }, {"holds 3 bytes"});
  test::expect_error([&] { read("nowhere.bin", {1}); }, {"nowhere.bin"});
}

TEST_F(ArrayFile, LimitsHold) {
  put("x.bin", std::vector<float>(1000));
  test::expect_need([&] { read("x.bin", {1000}, {.max_weights_bytes = 3999}); },
                    need::LargerInput{});
  test::expect_error([&] { read("x.bin", {1000}, {.memory = 7999}); }, {"reading it takes"});
  EXPECT_EQ(read("x.bin", {1000}, {.max_weights_bytes = 4000, .memory = 8000}).size(), 1000u);
}

TEST_F(ArrayFile, PicturesAreNamedAsSuch) {
  for (const std::string& magic :
       {std::string("\xff\xd8\xff\xe0"), std::string("\x89PNG\r\n\x1a\n"), std::string("GIF89a"),
        std::string("BM"), std::string("II*\0", 4), std::string("MM\0*", 4),
        std::string("RIFF1234WEBP")}) {
    const std::string file = folder_.put("photo", magic + std::string(20, '\x01')).string();
    test::expect_error([&] { read("photo", {1}); }, {"photo: is a picture, no .npy file"});
    test::expect_need([&] { read("photo", {1}); }, need::PictureAsArray{file});
  }
  folder_.put("photo", "RIFF1234WAVE");
  test::expect_error([&] { read("photo", {1}); }, {"photo: is no .npy file"});
}

}  // namespace
}  // namespace hios
