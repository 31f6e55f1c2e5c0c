#include "engine/cpu/convolutions/depthwise_pass.h"

#include <algorithm>

#include "engine/cpu/kernels/row_chunks.h"

namespace hios::cpu {

DepthwisePass::DepthwisePass(const Binding& binding, const ConvolutionChain& chain,
                             const Shape& input, const Shape& output) {
  const Layer& layer = binding.layer(*chain.depthwise);
  const Conv& conv = std::get<Conv>(layer.kind);
  window_ = window_of(input, output, conv.kernel, conv.stride, conv.padding.begin);
  kernel_ = kernels().depthwise(window_);
  weights_ = binding.weights.for_window(*binding.operation.model, layer, binding.source);
  if (!chain.between) return;
  const LayerKind& activation = binding.layer(*chain.between).kind;
  if (const auto bounds = bounds_of(activation)) {
    bounds_ = *bounds;
  } else {
    between_ = ActivationPass(activation);
  }
}

ImageRows DepthwisePass::reads(const ImageRows& rows) const {
  const std::int64_t height = window_.in_height;
  const std::int64_t top = rows.first * window_.stride_height - window_.pad_height;
  const std::int64_t bottom =
      (rows.end - 1) * window_.stride_height - window_.pad_height + window_.kernel_height;
  const std::int64_t first = std::clamp<std::int64_t>(top, 0, height);
  return {first, std::clamp<std::int64_t>(bottom, first, height)};
}

std::int64_t DepthwisePass::most_read(std::int64_t rows) const {
  return std::min<std::int64_t>((rows - 1) * window_.stride_height + window_.kernel_height,
                                window_.in_height);
}

void DepthwisePass::run(int threads, const RowsAt& input, const ImageRows& rows, float floor,
                        float* output) const {
  WindowTask task{};
  task.floor = floor;
  task.lowest = bounds_.lowest;
  task.highest = bounds_.highest;
  task.weights = weights_->weight_floats();
  task.bias = weights_->bias_floats();
  task.rows = input.values;
  task.first_row = input.first;
  const std::ptrdiff_t row_values = window_.out_width * window_.channels;
  const RowDivision division(1, static_cast<std::size_t>(rows.end - rows.first),
                             chunks_of(window_.channels), rows_together(kernel_));
  division.run(threads, [&](const RowChunks& group) {
    WindowTask part = task;
    part.row = rows.first + static_cast<std::int64_t>(group.row);
    part.first_chunk = static_cast<std::ptrdiff_t>(group.first_chunk);
    part.last_chunk = static_cast<std::ptrdiff_t>(group.last_chunk);
    part.output = output + static_cast<std::ptrdiff_t>(group.row) * row_values;
    compute_rows(kernel_, window_, part, group.rows);
    if (!between_) return;
    for (std::size_t i = 0; i < group.rows; ++i, part.output += row_values) activate(part);
  });
}

/// Applies the activation to the chunks of an output row.
void DepthwisePass::activate(const WindowTask& row) const {
  const auto lanes = static_cast<std::ptrdiff_t>(kernels().lanes);
  const std::ptrdiff_t first = row.first_chunk * lanes;
  const std::ptrdiff_t last = std::min(row.last_chunk * lanes, window_.channels);
  const bool whole = first == 0 && last == window_.channels;
  const std::ptrdiff_t runs = whole ? 1 : window_.out_width;
  const auto count = static_cast<std::size_t>((last - first) * (whole ? window_.out_width : 1));
  for (std::ptrdiff_t i = 0; i < runs; ++i) {
    between_.run(row.output + i * window_.channels + first, count);
  }
}

}  // namespace hios::cpu
