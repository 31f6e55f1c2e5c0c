#include "hios/onnx/runs.h"

#include <algorithm>
#include <array>

namespace hios::onnx {
namespace {

/// Writes the transposed matrix: each of `columns` neighbours becomes a row. Works in squares of a
/// cache line, since at strides of a power of two lines evict each other before the next row reads
/// them.
void transpose_into(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                    float* to) {
  constexpr std::int64_t kSquare = 16;
  std::array<std::array<float, kSquare>, kSquare> square;
  for (std::int64_t left = 0; left < columns; left += kSquare) {
    const std::int64_t wide = std::min(kSquare, columns - left);
    for (std::int64_t top = 0; top < rows; top += kSquare) {
      const std::int64_t high = std::min(kSquare, rows - top);
      for (std::int64_t i = 0; i < high; ++i)
        std::copy_n(from + (top + i) * stride + left, wide,
                    square[static_cast<std::size_t>(i)].data());
      for (std::int64_t j = 0; j < wide; ++j) {
        float* const row = to + (left + j) * rows + top;
        for (std::int64_t i = 0; i < high; ++i)
          row[i] = square[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
    }
  }
}

/// Writes the values along the last two runs.
void copy_rows(const float* from, const Run& rows, const Run& columns, float* to) {
  if (rows.stride == 1 && columns.stride != 1)
    return transpose_into(from, columns.stride, columns.size, rows.size, to);
  for (std::int64_t i = 0; i < rows.size; ++i, to += columns.size) {
    const float* const row = from + i * rows.stride;
    if (columns.stride == 1) {
      std::copy_n(row, columns.size, to);
    } else {
      for (std::int64_t j = 0; j < columns.size; ++j) to[j] = row[j * columns.stride];
    }
  }
}

}  // namespace

std::vector<Run> runs_of(const View& view, std::span<const std::size_t> order) {
  std::vector<Run> runs;
  for (const std::size_t i : order) {
    if (view.dims[i] == 1) continue;
    if (!runs.empty() && runs.back().stride == view.dims[i] * view.strides[i]) {
      runs.back() = {runs.back().size * view.dims[i], view.strides[i]};
    } else {
      runs.push_back({view.dims[i], view.strides[i]});
    }
  }
  return runs;
}

void copy_runs(const float* from, const std::vector<Run>& runs, float* to) {
  const Run one{1, 0};
  const Run& columns = runs.back();
  const Run& rows = runs.size() > 1 ? runs[runs.size() - 2] : one;
  const std::size_t outer = runs.size() > 2 ? runs.size() - 2 : 0;
  std::vector<std::int64_t> index(outer, 0);
  for (bool more = true; more; to += rows.size * columns.size) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < outer; ++k) at += index[k] * runs[k].stride;
    copy_rows(from + at, rows, columns, to);
    more = false;
    for (std::size_t k = outer; k-- > 0 && !more;) {
      more = ++index[k] < runs[k].size;
      if (!more) index[k] = 0;
    }
  }
}

}  // namespace hios::onnx
