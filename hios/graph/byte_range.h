#pragma once

#include <algorithm>
#include <compare>

#include "hios/base/ids.h"

namespace hios {

/// Bytes [begin, end) of a tensor.
struct ByteRange {
  Bytes begin = 0, end = 0;

  Bytes size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  auto operator<=>(const ByteRange&) const = default;
};

/// Returns the intersection; empty() where there is none.
inline ByteRange common(const ByteRange& a, const ByteRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Returns the smallest range with all bytes of both. REQUIRES: none is empty().
inline ByteRange hull(const ByteRange& a, const ByteRange& b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace hios
