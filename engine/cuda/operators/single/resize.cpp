// Resize. The taps of each row and column are computed on the host, once, as the reference's are,
// and lie on the GPU as two small tables.
#include <span>

#include "engine/backend/layers/resize_taps.h"
#include "engine/cuda/operators/single/single.h"

namespace hios::cuda {
namespace {

std::vector<ResizeTap> taps_of_axis(const Resize& kind, const ResizedAxis& axis) {
  std::vector<ResizeTap> taps;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const ResizeTaps of_one = resize_taps(kind, axis, i);
    for (int tap = 0; tap < of_one.count; ++tap) {
      taps.push_back({static_cast<int>(of_one.at[tap]), static_cast<float>(of_one.weight[tap])});
    }
  }
  return taps;
}

}  // namespace

BoundLayer bind_single(const Binding& binding, const Layer& layer, const Resize& kind) {
  const Source input = binding.inputs[InputIndex(0)];
  const Shape &in = input.shape, &out = binding.output_shape();
  ResizeTask task;
  task.element = binding.element();
  task.height = static_cast<int>(in.h);
  task.width = static_cast<int>(in.w);
  task.channels = static_cast<int>(in.c);
  task.images = static_cast<int>(out.n);
  task.out_height = static_cast<int>(out.h);
  task.out_width = static_cast<int>(out.w);
  task.input = input.data;
  task.output = binding.output;
  const std::string what = "the pixels that " + layer.name + " reads";
  const auto rows = taps_of_axis(kind, {in.h, out.h, kind.scale_h});
  const auto columns = taps_of_axis(kind, {in.w, out.w, kind.scale_w});
  task.taps = static_cast<int>(rows.size()) / task.out_height;
  const auto of_rows = binding.weights.upload_table(std::as_bytes(std::span(rows)), what);
  const auto of_columns = binding.weights.upload_table(std::as_bytes(std::span(columns)), what);
  task.of_rows = reinterpret_cast<const ResizeTap*>(of_rows->data());
  task.of_columns = reinterpret_cast<const ResizeTap*>(of_columns->data());
  return make_launches<ResizeTask>(binding, resize, {task}, {of_rows, of_columns});
}

}  // namespace hios::cuda
