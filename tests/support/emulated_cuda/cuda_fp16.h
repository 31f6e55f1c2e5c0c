#pragma once

#include <cstdint>

#include "hios/base/numbers/half.h"

/// CUDA's halves, by our own conversions (see cuda_runtime_api.h for the purpose).
struct __half {
  std::uint16_t bits;
  explicit operator float() const { return hios::to_float({bits}); }
};
inline float __half2float(__half half) { return hios::to_float({half.bits}); }
inline __half __float2half_rn(float value) { return {hios::to_half(value).bits}; }
