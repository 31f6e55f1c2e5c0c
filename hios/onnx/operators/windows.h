#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hios/onnx/operators/layer_emitter.h"
#include "hios/onnx/operators/registry.h"

/// Windows over height and width, of convolutions and pools.
namespace hios::onnx {

struct Window {
  Extent kernel, stride, dilation;
  Padding padding;
};

/// Sets the layer's window.
template <class Windowed>
void set_window(Windowed& layer, const Window& window) {
  layer.kernel = window.kernel;
  layer.stride = window.stride;
  layer.dilation = window.dilation;
  layer.padding = window.padding;
}

/// Returns (N, C, L) as (N, C, 1, L), and images as they are. Fails for other ranks.
View as_image(const LayerEmitter& emitter, const View& view);
/// Returns an image as a view of the rank that the node's input had.
View as_rank(const View& image, std::size_t rank);

/// Returns the attributes that window_of() reads, and `more`.
std::vector<std::string_view> window_attributes(std::vector<std::string_view> more);
/// Returns the node's window over an image of this extent, with the padding of `auto_pad`.
/// `kernel`: the extent of the weights; empty for pools.
Window window_of(const Node& node, std::size_t rank, const Extent& input,
                 std::optional<Extent> kernel);

/// Adds a convolution of an image with constant weights of these extents (out, in / groups, h, w);
/// the bias may be empty (convolutions.cpp).
View convolve(LayerEmitter& emitter, const View& x, const Dims& filter,
              ModelWeights::Values parameters, const Window& window, std::int64_t groups);
/// Fails unless the weights fit the channels and groups (convolutions.cpp).
void check_channels(const LayerEmitter& emitter, const View& x, const Dims& filter,
                    std::int64_t groups);
/// Adds the node's convolution of an image whose weights or bias are computed
/// (composed/volumes.cpp).
View convolve_by_tensor(LayerEmitter& emitter, const View& x, const View& filter,
                        const Window& window, std::int64_t groups);
/// Adds the node's convolution of five dimensions (composed/volumes.cpp).
View convolve_volume(LayerEmitter& emitter, const Node& node, std::int64_t groups);
/// Adds the node's transposed convolution of five dimensions (composed/volumes.cpp).
View spread_volume(LayerEmitter& emitter, const Node& node, std::int64_t groups);
/// Returns the positions of a window along one axis of a padded image, as two axes: the window's
/// and that of the kernel, which comes last (composed/volumes.cpp).
View windows_along(const View& x, std::size_t axis, std::int64_t kernel, std::int64_t stride,
                   std::int64_t dilation);
/// Returns true if fp32 holds the position of each value of such a tensor (pool_positions.cpp).
bool has_exact_positions(const Dims& dims);
/// Adds the positions of the maxima of windows over an image (N, C, H, W), each as the number of
/// values before it: row by row, or in each image column by column (composed/pool_positions.cpp).
/// REQUIRES: has_exact_positions(). `out`: the extent of the pool's output. Of equal values it is
/// the first one, row by row.
View pool_positions(LayerEmitter& emitter, const View& x, const Window& window, const Extent& out,
                    bool by_columns);
/// Adds MaxUnpool (composed/pool_positions.cpp).
void add_unpools(Operators& operators);
/// Adds Col2Im (composed/volumes.cpp).
void add_overlaps(Operators& operators);
/// Adds the node's pool of five dimensions (composed/volumes.cpp).
View pool_volume(LayerEmitter& emitter, const Node& node, const Pool& pool);

}  // namespace hios::onnx
