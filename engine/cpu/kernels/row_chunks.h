#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/parallel.h"
#include "hios/model/layer.h"

namespace hios::cpu {

/// Neighbouring rows of one image, for some of their chunks.
struct RowChunks {
  std::size_t row;   ///< the first, counted over all images
  std::size_t rows;  ///< 1 or 2
  std::size_t first_chunk, last_chunk;
};

/// Divides the rows of images into groups of `together`, 1 or 2; an image's last may be smaller.
/// The groups' chunks are divided evenly among a team: shares differ by about one chunk of one
/// group, even if rows are few. Calls body(RowChunks) for each group of a share.
class RowDivision {
 public:
  RowDivision(std::size_t images, std::size_t rows, std::size_t chunks, std::size_t together)
      : rows_(rows),
        chunks_(chunks),
        together_(together),
        groups_((rows + together - 1) / together),
        values_(images * rows * chunks) {}

  template <class Body>
  void run(int threads, Body&& body) const {
    parallel(threads, [&](int worker, int workers) { run_share(worker, workers, body); });
  }

  /// Calls body for the groups of one worker's share.
  template <class Body>
  void run_share(int worker, int workers, Body&& body) const {
    const Share share = share_of(values_, worker, workers);
    if (share.begin == share.end) return;
    const std::size_t last = chunk_at(share.end);
    for (std::size_t chunk = chunk_at(share.begin); chunk < last;) {
      RowChunks next = group_of(chunk / chunks_);
      next.first_chunk = chunk % chunks_;
      next.last_chunk = std::min(chunks_, next.first_chunk + (last - chunk));
      body(next);
      chunk += next.last_chunk - next.first_chunk;
    }
  }

 private:
  /// Returns how many chunks of groups come before a share's border, which counts chunks of rows.
  std::size_t chunk_at(std::size_t border) const {
    const std::size_t image = border / (rows_ * chunks_), inside = border % (rows_ * chunks_);
    const std::size_t group = inside / (together_ * chunks_);
    const std::size_t height = std::min(together_, rows_ - group * together_);
    const std::size_t in_group = inside % (together_ * chunks_) / height;
    return (image * groups_ + group) * chunks_ + in_group;
  }

  RowChunks group_of(std::size_t index) const {
    const std::size_t row = index % groups_ * together_;
    return {index / groups_ * rows_ + row, std::min(together_, rows_ - row), 0, chunks_};
  }

  std::size_t rows_, chunks_, together_, groups_, values_;
};

/// Computes output rows of a window: `rows` of them, at most as many as rows_together().
inline void compute_rows(const WindowRows& function, const RowWindow& window,
                         const WindowTask& task, std::size_t rows) {
  (rows == 2 ? function.two : function.one)(window, task);
}

inline std::size_t rows_together(const WindowRows& function) {
  return function.two != nullptr ? 2 : 1;
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
