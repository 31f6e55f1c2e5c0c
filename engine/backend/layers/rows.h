#pragma once

#include <cstdint>

#include "engine/backend/layers/functions.h"

/// The row of a table that an index names, as all backends find it (Gather, hios/model/layer.h).
namespace hios {

/// Returns the row's number, or -1 where the index names none. Negative indices count from the end;
/// fractions are rounded towards 0, as a cast to integers rounds them.
HIOS_HOST_AND_DEVICE inline std::int64_t row_at(float index, std::int64_t rows) {
  constexpr float kBeyondAll = 0x1.0p62f;
  if (!(index > -kBeyondAll && index < kBeyondAll)) return -1;  // also a NaN
  const auto at = static_cast<std::int64_t>(index);
  if (at >= rows || at < -rows) return -1;
  return at < 0 ? at + rows : at;
}

}  // namespace hios
