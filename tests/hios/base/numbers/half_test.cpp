// Conversions against the definition of a half, by arithmetic in double precision: over all 65,536
// of them, and over all floats between the midpoints of neighbours.
#include "hios/base/numbers/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "hios/base/numbers/random.h"

namespace hios {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Half half(unsigned bits) { return {static_cast<std::uint16_t>(bits)}; }
bool is_nan(Half one) { return (one.bits & 0x7fff) > 0x7c00; }

/// Returns the value of a half's bits. REQUIRES: not NaN.
double meaning(Half one) {
  const int exponent = one.bits >> 10 & 0x1f, mantissa = one.bits & 0x3ff;
  const double sign = one.bits & 0x8000 ? -1 : 1;
  if (exponent == 0x1f) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Half, EveryOneIsTheFloatThatItMeansAndComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(half(bits));
    if (is_nan(half(bits))) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(to_half(value).bits, bits | 0x200) << "not quiet, or another payload";
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), meaning(half(bits))) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(to_half(value).bits, bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(round_to_half(value)),
              std::bit_cast<std::uint32_t>(value));
  }
}

// The midpoint of two halves is a float, and so are its neighbours.
TEST(Half, RoundsToTheNearestAndTiesToEven) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const double below = meaning(half(bits));
    const double above = bits == 0x7bff ? 65536 : meaning(half(bits + 1));
    const auto middle = static_cast<float>((below + above) / 2);
    ASSERT_EQ(static_cast<double>(middle), (below + above) / 2);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    for (const unsigned sign : {0u, 0x8000u}) {
      const float signed_middle = sign ? -middle : middle;
      ASSERT_EQ(to_half(signed_middle).bits, even | sign) << bits;
      ASSERT_EQ(to_half(std::nextafter(signed_middle, 0.0f)).bits, bits | sign) << bits;
      const float far = sign ? -kInfinity : kInfinity;
      ASSERT_EQ(to_half(std::nextafter(signed_middle, far)).bits, (bits + 1) | sign) << bits;
    }
  }
}

TEST(Half, NoOtherIsNearerToAnyFloat) {
  Random random(3, "half_test");
  for (int i = 0; i < 1'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(1ull << 32)));
    if (std::isnan(value) || std::abs(value) >= 65520) continue;
    const Half nearest = to_half(value);
    const double distance = std::abs(meaning(nearest) - static_cast<double>(value));
    for (const int step : {-1, 1}) {
      const Half other = half(static_cast<unsigned>(nearest.bits + step));
      if (is_nan(other) || std::isinf(meaning(other))) continue;
      ASSERT_LE(distance, std::abs(meaning(other) - static_cast<double>(value))) << value;
    }
  }
}

TEST(Half, ExtremesStayWhatTheyAre) {
  EXPECT_EQ(to_half(kInfinity).bits, 0x7c00);
  EXPECT_EQ(to_half(-kInfinity).bits, 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_half(-65520.0f).bits, 0xfc00);
  EXPECT_EQ(to_half(std::nextafter(65520.0f, 0.0f)).bits, 0x7bff);
  EXPECT_EQ(to_half(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(to_half(-0.0f).bits, 0x8000);
  EXPECT_TRUE(is_nan(to_half(std::bit_cast<float>(0x7f800001u)))) << "a payload that is dropped";
}

TEST(Tf32, KeepsTenBitsOfMantissaAndTiesGoToEven) {
  const auto rounded = [](std::uint32_t bits) {
    return std::bit_cast<std::uint32_t>(round_to_tf32(std::bit_cast<float>(bits)));
  };
  for (const std::uint32_t kept : {0x3f800000u, 0x3f802000u, 0xc1234000u, 0x00002000u, 0u}) {
    EXPECT_EQ(rounded(kept), kept);
    EXPECT_EQ(rounded(kept + 0x0fff), kept) << "just below the middle";
    EXPECT_EQ(rounded(kept + 0x1001), kept + 0x2000) << "just above";
    EXPECT_EQ(rounded(kept + 0x1000), (kept & 0x2000) ? kept + 0x2000 : kept);
  }
  EXPECT_EQ(round_to_tf32(std::bit_cast<float>(0x3fffffffu)), 2.0f) << "into the exponent";
  EXPECT_EQ(round_to_tf32(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(round_to_tf32(std::bit_cast<float>(0x7fffffffu))));
}

TEST(Halves, AreEqualOneByOneAndInBulk) {
  const std::vector<float> values = {1.0f, -2.5f, 1e-9f, 70000.0f};
  const std::vector<Half> halves = to_halves(values);
  ASSERT_EQ(halves.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(halves[i], to_half(values[i]));
}

}  // namespace
}  // namespace hios
