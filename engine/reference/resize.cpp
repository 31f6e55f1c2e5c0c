// Resize, as the ONNX operator documentation defines it. Each output pixel has a position in the
// input's coordinates and is a weighted sum of the pixels around it, rows and columns separately
// (engine/backend/layers/resize_taps.h).
#include "engine/backend/layers/resize_taps.h"
#include "engine/reference/loops.h"

namespace hios::reference {

void resize(const Resize& resize, const Input& in, const Output& out) {
  const ResizedAxis rows{in.shape.h, out.shape.h, resize.scale_h};
  const ResizedAxis columns{in.shape.w, out.shape.w, resize.scale_w};
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    const ResizeTaps of_row = resize_taps(resize, rows, h),
                     of_column = resize_taps(resize, columns, w);
    float* result = pixel(out, n, h, w);
    for (std::int64_t c = 0; c < out.shape.c; ++c) {
      double sum = 0;
      for (int i = 0; i < of_row.count; ++i) {
        for (int j = 0; j < of_column.count; ++j) {
          sum += of_row.weight[i] * of_column.weight[j] *
                 static_cast<double>(pixel(in, n, of_row.at[i], of_column.at[j])[c]);
        }
      }
      result[c] = static_cast<float>(sum);
    }
  });
}

}  // namespace hios::reference
