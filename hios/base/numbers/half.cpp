#include "hios/base/numbers/half.h"

#include <bit>

// Integer arithmetic on the bits. A float's 13 low bits of mantissa are dropped. Adding just less
// than half of the last kept bit, and one more where that bit is odd, rounds to nearest even. A
// carry out of the mantissa moves into the exponent, as it should. Halves below 2^-14 have no
// hidden bit: there the mantissa with its hidden bit is rounded to units of 2^-24. Tests:
// tests/hios/base/numbers/half_test.cpp, over all halves and every tie between them.
namespace hios {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7f800000;
constexpr int kDropped = 13;                          // bits of mantissa that a half lacks
constexpr std::uint32_t kBiasGap = (127 - 15) << 10;  // in a half's units

/// Drops `bits` low bits and rounds to nearest even.
std::uint32_t shifted_to_even(std::uint32_t value, int bits) {
  const std::uint32_t odd = (value >> bits) & 1;
  return (value + (std::uint32_t{1} << (bits - 1)) - 1 + odd) >> bits;
}

/// Rounds a magnitude below 2^-14, the smallest half with a hidden bit.
std::uint32_t to_subnormal(std::uint32_t magnitude) {
  constexpr std::uint32_t kHiddenBit = 0x00800000;
  const int exponent = static_cast<int>(magnitude >> 23);
  const int shift = 126 - exponent;  // to units of 2^-24
  if (shift > 25) return 0;          // below half of the smallest half
  return shifted_to_even((magnitude & (kHiddenBit - 1)) | kHiddenBit, shift);
}

}  // namespace

float to_float(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1f, mantissa = half.bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | kFloatInfinity | mantissa << kDropped);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + (127 - 15)) << 23 | mantissa << kDropped);
}

Half to_half(float value) {
  constexpr std::uint32_t kInfinity = 0x7c00, kQuiet = 0x0200;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  std::uint32_t result = kInfinity;
  if (magnitude > kFloatInfinity) {
    result = kInfinity | kQuiet | (magnitude >> kDropped & 0x3ff);
  } else if (value < 0x1p-14f && value > -0x1p-14f) {
    result = to_subnormal(magnitude);
  } else if (value < 65520.0f && value > -65520.0f) {
    result = shifted_to_even(magnitude, kDropped) - kBiasGap;
  }
  return {static_cast<std::uint16_t>(sign | result)};
}

std::vector<Half> to_halves(std::span<const float> values) {
  std::vector<Half> halves;
  halves.reserve(values.size());
  for (const float value : values) halves.push_back(to_half(value));
  return halves;
}

float round_to_half(float value) { return to_float(to_half(value)); }

float round_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & kFloatInfinity) == kFloatInfinity) return value;
  return std::bit_cast<float>(shifted_to_even(bits, kDropped) << kDropped);
}

}  // namespace hios
