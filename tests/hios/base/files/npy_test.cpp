#include "hios/base/files/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "hios/base/need.h"
#include "hios/base/numbers/half.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

using test::expect_error;
using test::TemporaryFolder;

template <class Number>
std::string raw(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

/// Returns the bytes of a .npy file; version 1 has two bytes for the header's length, others four.
std::string npy(const std::string& header, const std::string& data, int major = 1, int minor = 0) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += static_cast<char>(minor);
  const std::size_t width = major == 1 ? 2 : 4;
  for (std::size_t i = 0; i < width; ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 255);
  }
  return file + header + data;
}

constexpr const char* kFloats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
constexpr const char* kDoubles = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";

NpyArray read(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_npy(folder.put("a.npy", bytes), {});
}

TEST(Npy, ReadsBackWhatItWrites) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, -2, 3.5f, 0, 1e-30f, std::numeric_limits<float>::infinity()};
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{6}, {2, 3}, {1, 1, 6, 1}}) {
    write_npy(folder / "a.npy", dims, values, Existing::kReplace);
    const NpyArray array = read_npy(folder / "a.npy", {});
    EXPECT_EQ(array.dims, dims);
    EXPECT_EQ(array.values, values);
  }
}

TEST(Npy, ReadsVersionsOneToThree) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  for (const int major : {1, 2, 3})
    EXPECT_EQ(read(npy(kFloats, raw(values), major)).values, values);
  for (const auto& [major, minor] : {std::pair(0, 0), {4, 0}, {9, 0}, {1, 1}, {255, 255}}) {
    const std::string version = std::to_string(major) + "." + std::to_string(minor);
    expect_error([&] { read(npy(kFloats, raw(values), major, minor)); },
                 {"a.npy: has the .npy version " + version + "; 1.0, 2.0 and 3.0 are read"});
  }
}

TEST(Npy, RefusesKeysThatAreThereTwice) {
  const std::string data = raw(std::vector<float>(6));
  const auto header = [](const std::string& more) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), " + more + "}\n";
  };
  EXPECT_NO_THROW(read(npy(header(""), data)));
  for (const auto& [key, more] : {std::pair("descr", "'descr': '<f4'"),
                                  {"descr", "\"descr\": '<f8'"},
                                  {"fortran_order", "'fortran_order': True, "},
                                  {"shape", "'shape': (3, 2)"}}) {
    expect_error([&, more = more] { read(npy(header(more), data)); },
                 {"a.npy: has the key '" + std::string(key) + "' twice in its header"});
  }
}

TEST(Npy, RoundsDoublesWithinTheRangeOfFp32) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kLargest = std::numeric_limits<float>::max();
  const NpyArray array = read(
      npy(kDoubles, raw(std::vector<double>{0.1, kLargest, -kLargest, 1e-300, kInfinite, NAN})));
  EXPECT_EQ(array.values[0], 0.1f);
  EXPECT_EQ(array.values[1], std::numeric_limits<float>::max());
  EXPECT_EQ(array.values[3], 0.0f);
  EXPECT_EQ(array.values[4], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(array.values[5]));
  expect_error(
      [] {
        read(npy(kDoubles, raw(std::vector<double>{0, 0, 0, 0, 0, 1e300})));
      },
      {"a.npy: holds 1e+300 at [1, 2], which is beyond the range of float32"});
  expect_error(
      [] {
        read(npy(kDoubles, raw(std::vector<double>{0, -3.5e38, 0, 0, 0, 0})));
      },
      {"a.npy: holds -3.5e+38 at [0, 1], "});
  constexpr const char* kScalar = "{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n";
  expect_error([] { read(npy(kScalar, raw(std::vector<double>{1e39}))); },
               {"a.npy: holds 1e+39 at [], "});
}

TEST(Npy, ReadsHalvesExactly) {
  constexpr const char* kHalves = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }\n";
  const std::vector<float> values{1, -2.5f, 0x1p-24f, 65504, INFINITY, -0.0f};
  EXPECT_EQ(read(npy(kHalves, raw(to_halves(values)))).values, values);
  expect_error([&] { read(npy(kHalves, raw(values))); }, {"a.npy: holds other than the values"});
}

TEST(Npy, ReadsIntegersThatFp32HoldsExactly) {
  constexpr const char* kIntegers = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n";
  const auto values = [&](std::int64_t second) {
    return npy(kIntegers, raw(std::vector<std::int64_t>{-3, second}));
  };
  EXPECT_EQ(read(values(1 << 24)).values, (std::vector<float>{-3, 1 << 24}));
  expect_error([&] { read(values((1 << 24) + 1)); },
               {"a.npy: holds 16777217 at [1]; whole numbers up to 2^24 are exact in float32"});
}

TEST(Npy, RefusesOtherFiles) {
  const std::string data = raw(std::vector<float>(6));
  const auto with = [&](const char* old, const char* fresh) {
    std::string header = kFloats;
    return npy(header.replace(header.find(old), std::strlen(old), fresh), data);
  };
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"noise", "is no .npy file"},
      {npy(kFloats, data).substr(0, 40), "is cut short"},
      {npy(kFloats, data + "1"), "holds other than the values"},
      {with("False", "True"), "must be in C order"},
      {with("<f4", "<c8"),
       "holds '<c8'; float32, float64, float16, integers or truth values are needed"},
      {with("<f4", ">f4"), "holds '>f4'; "},
      {with("(2, 3)", "(2, -3)"), "has a shape that cannot be"},
      {with("(2, 3)", "7"), "names no shape"}};
  for (const auto& [bytes, message] : cases) {
    expect_error([&, &file = bytes] { read(file); }, {"a.npy: ", message});
  }
}

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
  template <class Call>
  static Bytes needed_bytes(const Call& call) {
    try {
      call();
    } catch (const ArraySizeError& error) {
      return error.bytes;
    }
    return 0;
  }
  TemporaryFolder folder_;
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
  expect_error([&] { read("x.npy", {4}); },
               {"x.npy: holds 2x2 where the model takes 4 (float32, 16 bytes)"});
  EXPECT_EQ(needed_bytes([&] { read("x.npy", {4, 1}); }), 16u);
}

TEST_F(ArrayFile, AnotherSizeIsRefusedWithTheWantedBytes) {
  put("x.bin", {1, 2, 3});
  expect_error(
      [&] {
        read("x.bin", {2, 2});
      },
      {"x.bin: holds 12 bytes where the model takes 2x2 (float32, 16 bytes)"});
  expect_error([&] { read("x.bin", {}); }, {"takes a single value (float32, 4 bytes)"});
  EXPECT_EQ(needed_bytes([&] { read("x.bin", {2, 2}); }), 16u);
  folder_.put("cut.bin", "123");
  expect_error([&] { read("cut.bin", {1}); }, {"holds 3 bytes"});
  expect_error([&] { read("nowhere.bin", {1}); }, {"nowhere.bin"});
}

TEST_F(ArrayFile, LimitsHold) {
  put("x.bin", std::vector<float>(1000));
  test::expect_need([&] { read("x.bin", {1000}, {.max_weights_bytes = 3999}); },
                    need::LargerInput{});
  expect_error([&] { read("x.bin", {1000}, {.memory = 7999}); }, {"reading it takes"});
  EXPECT_EQ(read("x.bin", {1000}, {.max_weights_bytes = 4000, .memory = 8000}).size(), 1000u);
}

TEST_F(ArrayFile, PicturesAreNamedAsSuch) {
  for (const std::string& magic :
       {std::string("\xff\xd8\xff\xe0"), std::string("\x89PNG\r\n\x1a\n"), std::string("GIF89a"),
        std::string("BM"), std::string("II*\0", 4), std::string("MM\0*", 4),
        std::string("RIFF1234WEBP")}) {
    folder_.put("photo", magic + std::string(20, '\x01'));
    expect_error([&] { read("photo", {1}); }, {"photo: is a picture, no .npy file"});
    EXPECT_THROW(read("photo", {1}), PictureError);
  }
  folder_.put("photo", "RIFF1234WAVE");
  expect_error([&] { read("photo", {1}); }, {"photo: is no .npy file"});
}

}  // namespace
}  // namespace hios
