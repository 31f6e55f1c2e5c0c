#include <algorithm>
#include <limits>

#include "engine/reference/loops.h"

namespace hios::reference {
namespace {

void max_pool(const TapWindow& window, const Input& in, const Output& out) {
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    float* result = pixel(out, n, h, w);
    std::fill_n(result, out.shape.c, -std::numeric_limits<float>::infinity());
    window.for_each_tap(in.shape, h, w, [&](auto, auto, std::int64_t ih, std::int64_t iw) {
      const float* x = pixel(in, n, ih, iw);
      for (std::int64_t c = 0; c < out.shape.c; ++c) result[c] = std::max(result[c], x[c]);
    });
  });
}

/// Calls `add(sums, first channel, channels)` for each block of channels, then stores the sums
/// divided by `divisor`.
template <class Add>
void average_blocks(float* result, std::int64_t channels, std::int64_t divisor, Add add) {
  for (std::int64_t first = 0; first < channels; first += kBlock) {
    const std::int64_t count = std::min(kBlock, channels - first);
    std::array<double, kBlock> sums{};
    add(sums.data(), first, count);
    for (std::int64_t c = 0; c < count; ++c) {
      result[first + c] = static_cast<float>(sums[c] / static_cast<double>(divisor));
    }
  }
}

/// Returns the number of a window's taps, the first of them at `first`, within [least, end).
std::int64_t taps_within(std::int64_t first, std::int64_t kernel, std::int64_t dilation,
                         std::int64_t least, std::int64_t end) {
  std::int64_t taps = 0;
  for (std::int64_t k = 0; k < kernel; ++k) {
    const std::int64_t at = first + k * dilation;
    taps += at >= least && at < end ? 1 : 0;
  }
  return taps;
}

/// Returns the divisor of the average at (h, w): taps inside the image, or inside it and its
/// padding.
std::int64_t divisor(const Pool& pool, const Shape& in, std::int64_t h, std::int64_t w) {
  const Padding counted = pool.count_padding ? pool.padding : Padding{};
  const Extent first{h * pool.stride.h - pool.padding.begin.h,
                     w * pool.stride.w - pool.padding.begin.w};
  return taps_within(first.h, pool.kernel.h, pool.dilation.h, -counted.begin.h,
                     in.h + counted.end.h) *
         taps_within(first.w, pool.kernel.w, pool.dilation.w, -counted.begin.w,
                     in.w + counted.end.w);
}

void average_pool(const Pool& pool, const TapWindow& window, const Input& in, const Output& out) {
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    average_blocks(pixel(out, n, h, w), out.shape.c, divisor(pool, in.shape, h, w),
                   [&](double* sums, std::int64_t first, std::int64_t count) {
                     window.for_each_tap(in.shape, h, w,
                                         [&](auto, auto, std::int64_t ih, std::int64_t iw) {
                                           add_values(sums, pixel(in, n, ih, iw) + first, count);
                                         });
                   });
  });
}

}  // namespace

void pool(const Pool& pool, const Input& in, const Output& out) {
  const TapWindow window{pool.kernel, pool.stride, pool.padding.begin, pool.dilation};
  if (pool.kind == Pool::Kind::kMax) {
    max_pool(window, in, out);
  } else {
    average_pool(pool, window, in, out);
  }
}

void global_average_pool(const Input& in, const Output& out) {
  const std::int64_t pixels = in.shape.h * in.shape.w;
  for (std::int64_t n = 0; n < in.shape.n; ++n) {
    average_blocks(pixel(out, n, 0, 0), in.shape.c, pixels,
                   [&](double* sums, std::int64_t first, std::int64_t count) {
                     for (std::int64_t i = 0; i < pixels; ++i) {
                       add_values(sums, pixel(in, n, 0, i) + first, count);
                     }
                   });
  }
}

}  // namespace hios::reference
