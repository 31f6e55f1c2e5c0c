#include "hios/base/files/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

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
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kLargest = std::numeric_limits<float>::max();
  const NpyArray array = read(
      npy(kDoubles, raw(std::vector<double>{0.1, kLargest, -kLargest, 1e-300, kInfinity, NAN})));
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
      {with("<f4", "<i4"), "holds '<i4'; float32 or float64 is needed"},
      {with("(2, 3)", "(2, -3)"), "has a shape that cannot be"},
      {with("(2, 3)", "7"), "names no shape"}};
  for (const auto& [bytes, message] : cases) {
    expect_error([&, &file = bytes] { read(file); }, {"a.npy: ", message});
  }
}

}  // namespace
}  // namespace hios
