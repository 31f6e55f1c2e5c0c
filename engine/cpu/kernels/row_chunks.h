#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/parallel.h"
#include "hios/model/layer.h"

namespace hios::cpu {

/// Divides `rows` × `chunks` evenly among the team, row by row, and calls body(row, first chunk,
/// last chunk) for each row range. Shares differ by at most one chunk of one row, even if rows are
/// few.
template <class Body>
void parallel_row_chunks(int threads, std::size_t rows, std::size_t chunks, Body&& body) {
  parallel_shares(threads, rows * chunks, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t row = begin / chunks, first = begin % chunks;
      const std::size_t last = std::min(chunks, first + (end - begin));
      body(row, first, last);
      begin += last - first;
    }
  });
}

inline std::size_t chunks_of(std::int64_t channels) {
  const auto lanes = static_cast<std::size_t>(kernels().lanes);
  return (static_cast<std::size_t>(channels) + lanes - 1) / lanes;
}

/// Returns the geometry of a window between two shapes.
inline RowWindow window_of(const Shape& input, const Shape& output, const Extent& kernel,
                           const Extent& stride, const Extent& padding) {
  return {input.c,  input.h,   input.w,   kernel.h, kernel.w, stride.h,
          stride.w, padding.h, padding.w, output.h, output.w};
}

}  // namespace hios::cpu
