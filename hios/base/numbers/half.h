#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// The narrow numbers of fp16 and tf32, made and read without help from the compiler or the
/// processor, so that every machine rounds alike.
namespace hios {

/// IEEE 754 binary16: sign, 5 bits of exponent, 10 of mantissa.
struct Half {
  std::uint16_t bits = 0;
  bool operator==(const Half&) const = default;  ///< the same bits: 0 and -0 differ
};

/// Exact: every half is a float. A NaN stays one, with its payload.
float to_float(Half half);
/// The nearest half, of two as near the one with an even mantissa; subnormal where need be;
/// infinite from 65520 on. A NaN stays one.
Half to_half(float value);
std::vector<Half> to_halves(std::span<const float> values);

/// `to_float(to_half(value))`.
float round_to_half(float value);
/// The nearest float with 10 bits of mantissa, of two as near the even one: what a tensor core sees
/// of an operand in tf32. Infinities and NaN stay what they are.
float round_to_tf32(float value);

}  // namespace hios
