#pragma once

#include <cstdint>

#include "engine/backend/layers/functions.h"

/// The order of values in which all backends find the first ones (TopK, hios/model/layer.h).
namespace hios {

/// Returns true if value `a` at position `i` comes before value `b` at position `j`.
HIOS_HOST_AND_DEVICE inline bool comes_first(float a, std::int64_t i, float b, std::int64_t j,
                                             bool largest) {
  const bool a_is_nan = a != a, b_is_nan = b != b;
  if (a_is_nan != b_is_nan) return a_is_nan == largest;
  if (!a_is_nan && a != b) return (a > b) == largest;
  return i < j;
}

}  // namespace hios
