#pragma once

#include <array>
#include <cstdint>

#include "engine/reference/kernels.h"

/// Loops over the pixels, windows and values of tensors.
namespace hios::reference {

/// Number of channels or values whose sums are kept at once.
inline constexpr std::int64_t kBlock = 64;

inline const float* pixel(const Input& in, std::int64_t n, std::int64_t h, std::int64_t w) {
  return in.data + ((n * in.shape.h + h) * in.shape.w + w) * in.shape.c;
}

inline float* pixel(const Output& out, std::int64_t n, std::int64_t h, std::int64_t w) {
  return out.data + ((n * out.shape.h + h) * out.shape.w + w) * out.shape.c;
}

inline bool inside(std::int64_t i, std::int64_t size) { return i >= 0 && i < size; }

/// Calls visit(n, h, w) for every output pixel.
template <class Visit>
void for_each_pixel(const Shape& shape, Visit visit) {
  for (std::int64_t n = 0; n < shape.n; ++n) {
    for (std::int64_t h = 0; h < shape.h; ++h) {
      for (std::int64_t w = 0; w < shape.w; ++w) visit(n, h, w);
    }
  }
}

/// A window over the input: where it starts for an output pixel, and its taps inside the image.
struct TapWindow {
  Extent kernel, stride, padding, dilation;

  /// Calls visit(kernel h, kernel w, input h, input w) for each tap inside the image.
  template <class Visit>
  void for_each_tap(const Shape& in, std::int64_t h, std::int64_t w, Visit visit) const {
    for (std::int64_t kh = 0; kh < kernel.h; ++kh) {
      const std::int64_t ih = h * stride.h + kh * dilation.h - padding.h;
      if (!inside(ih, in.h)) continue;
      for (std::int64_t kw = 0; kw < kernel.w; ++kw) {
        const std::int64_t iw = w * stride.w + kw * dilation.w - padding.w;
        if (inside(iw, in.w)) visit(kh, kw, ih, iw);
      }
    }
  }
};

/// The position of a value in a tensor; axes in memory order.
struct Index {
  std::int64_t n = 0, h = 0, w = 0, c = 0;
};

inline std::int64_t offset(const Shape& shape, const Index& at) {
  return ((at.n * shape.h + at.h) * shape.w + at.w) * shape.c + at.c;
}

/// Returns a value of a tensor whose extents of 1 are broadcast.
inline float broadcast_value(const Input& in, const Index& at) {
  const auto along = [](std::int64_t extent, std::int64_t i) { return extent == 1 ? 0 : i; };
  const Shape& shape = in.shape;
  return in.data[offset(shape, {along(shape.n, at.n), along(shape.h, at.h), along(shape.w, at.w),
                                along(shape.c, at.c)})];
}

/// A box of a tensor: from `begin` up to but not including `end` in each axis.
struct Box {
  Index begin, end;
};

/// Calls visit(index) for every value of a box, in memory order.
template <class Visit>
void for_each_index(const Box& box, Visit visit) {
  for (Index at = box.begin; at.n < box.end.n; ++at.n) {
    for (at.h = box.begin.h; at.h < box.end.h; ++at.h) {
      for (at.w = box.begin.w; at.w < box.end.w; ++at.w) {
        for (at.c = box.begin.c; at.c < box.end.c; ++at.c) visit(at);
      }
    }
  }
}

/// Does the same for every value of a tensor.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  for_each_index(Box{{}, {shape.n, shape.h, shape.w, shape.c}}, visit);
}

/// Adds values: sums[i] += x[i].
inline void add_values(double* sums, const float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += x[i];
}

}  // namespace hios::reference
