// Layers that move values and compute nothing.
#include <algorithm>

#include "engine/backend/layers/ranking.h"
#include "engine/backend/layers/rows.h"
#include "engine/reference/loops.h"

namespace hios::reference {
namespace {

/// Returns the input position for position `i` of a padded axis; −1: the padding's constant.
std::int64_t source_of(Pad::Mode mode, std::int64_t i, std::int64_t extent) {
  if (inside(i, extent)) return i;
  switch (mode) {
    case Pad::Mode::kConstant:
      return -1;
    case Pad::Mode::kReflect:
      return i < 0 ? -i : 2 * (extent - 1) - i;
    case Pad::Mode::kEdge:
      return i < 0 ? 0 : extent - 1;
    case Pad::Mode::kWrap:
      return (i % extent + extent) % extent;
  }
  return -1;  // no such mode
}

/// Copies the values that `dimensions` select from `from` on; returns the end of the output.
float* write_out(std::span<const Move::Dimension> dimensions, const float* from, float* to) {
  if (dimensions.empty()) {
    *to = *from;
    return to + 1;
  }
  const auto [size, stride] = dimensions.front();
  for (std::int64_t i = 0; i < size; ++i)
    to = write_out(dimensions.subspan(1), from + i * stride, to);
  return to;
}

}  // namespace

void concat(const Concat& concat, std::span<const Input> in, const Output& out) {
  Index first;  // position in the output of the current input's first value
  for (const Input& part : in) {
    const float* next = part.data;
    for_each_index(part.shape, [&](const Index& at) {
      const Index to{first.n + at.n, first.h + at.h, first.w + at.w, first.c + at.c};
      out.data[offset(out.shape, to)] = *next++;
    });
    switch (concat.axis) {
      case Axis::kN:
        first.n += part.shape.n;
        break;
      case Axis::kC:
        first.c += part.shape.c;
        break;
      case Axis::kH:
        first.h += part.shape.h;
        break;
      case Axis::kW:
        first.w += part.shape.w;
        break;
    }
  }
}

void pad(const Pad& pad, const Input& in, const Output& out) {
  float* next = out.data;
  for_each_index(out.shape, [&](const Index& at) {
    const Index from{source_of(pad.mode, at.n - pad.begin.n, in.shape.n),
                     source_of(pad.mode, at.h - pad.begin.h, in.shape.h),
                     source_of(pad.mode, at.w - pad.begin.w, in.shape.w),
                     source_of(pad.mode, at.c - pad.begin.c, in.shape.c)};
    const bool padding = std::min({from.n, from.h, from.w, from.c}) < 0;
    *next++ = padding ? pad.value : in.data[offset(in.shape, from)];
  });
}

void move(const Move& move, const Input& in, const Output& out) {
  write_out(move.dimensions, in.data + move.offset, out.data);
}

void gather(const Input& indices, const Input& table, const Output& out) {
  const std::int64_t columns = table.shape.c, rows = table.shape.elements() / columns;
  float* to = out.data;
  for (std::int64_t i = 0; i < indices.shape.elements(); ++i, to += columns) {
    const std::int64_t row = row_at(indices.data[i], rows);
    if (row < 0) {
      std::fill_n(to, columns, 0.0f);
    } else {
      std::copy_n(table.data + row * columns, columns, to);
    }
  }
}

void find_top(const TopK& top, const Input& in, const Output& out) {
  const std::int64_t columns = in.shape.c, rows = in.shape.elements() / columns;
  float* to = out.data;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const values = in.data + row * columns;
    std::int64_t last = -1;
    for (std::int64_t found = 0; found < top.k; ++found) {
      std::int64_t best = -1;
      for (std::int64_t i = 0; i < columns; ++i) {
        const bool is_left = last < 0 || comes_first(values[last], last, values[i], i, top.largest);
        if (!is_left) continue;
        if (best < 0 || comes_first(values[i], i, values[best], best, top.largest)) best = i;
      }
      *to++ = top.positions ? static_cast<float>(best) : values[best];
      last = best;
    }
  }
}

}  // namespace hios::reference
