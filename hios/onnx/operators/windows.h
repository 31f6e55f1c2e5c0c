#pragma once

#include "hios/onnx/read/layer_emitter.h"

/// What convolutions and pools have in common: windows over height and width.
namespace hios::onnx {

struct Window {
  Extent kernel, stride, dilation;
  Padding padding;
};

/// The layer's window becomes this one.
template <class Windowed>
void set_window(Windowed& layer, const Window& window) {
  layer.kernel = window.kernel;
  layer.stride = window.stride;
  layer.dilation = window.dilation;
  layer.padding = window.padding;
}

/// (N, C, L) becomes (N, C, 1, L), so that lines are images; images stay. Fails for other ranks.
View as_image(const LayerEmitter& emitter, const View& view);
/// Back again, to the rank that the node's input had.
View as_rank(const View& image, std::size_t rank);

/// The node's window over an image of this extent, `auto_pad` settled. `kernel`: of the weights,
/// where the node does not say it.
Window window_of(const Node& node, std::size_t rank, const Extent& input,
                 std::optional<Extent> kernel);

}  // namespace hios::onnx
