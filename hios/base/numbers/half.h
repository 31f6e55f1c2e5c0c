#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Conversions to and from the numbers of fp16 and tf32, in integer arithmetic: every compiler and
/// processor rounds alike.
namespace hios {

/// IEEE 754 binary16: sign, 5 bits of exponent, 10 of mantissa.
struct Half {
  std::uint16_t bits = 0;
  bool operator==(const Half&) const = default;  ///< compares bits: 0 and -0 differ
};

/// Converts exactly: every half is a float. A NaN stays one, with its payload.
float to_float(Half half);
/// Rounds to the nearest half, on a tie to the one with an even mantissa. Subnormal where needed;
/// infinite from 65520 on. A NaN stays one.
Half to_half(float value);
std::vector<Half> to_halves(std::span<const float> values);

/// `to_float(to_half(value))`.
float round_to_half(float value);
/// Rounds to the nearest float with 10 bits of mantissa, on a tie to the even one, as a tensor core
/// does with an operand in tf32. Infinities and NaN stay.
float round_to_tf32(float value);

}  // namespace hios
