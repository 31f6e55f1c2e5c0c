#pragma once

#include <cmath>
#include <cstdint>

/// The arithmetic of constant folding that C++ has not: integers that wrap, and ONNX's two
/// remainders.
namespace hios::onnx {

// Sums and products wrap in two's complement, as in other runtimes. A division by 0, which ONNX
// leaves open, is 0.
inline std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t subtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == -1) return subtract(0, a);
  return b == 0 ? 0 : a / b;
}

/// Returns the remainder of a division that rounds towards zero (fmod = 1): its sign is that of a.
inline std::int64_t truncated_remainder(std::int64_t a, std::int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
inline double truncated_remainder(double a, double b) { return std::fmod(a, b); }

/// Returns the remainder of a division that rounds down (fmod = 0): its sign is that of b.
inline std::int64_t floored_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = truncated_remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline double floored_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace hios::onnx
