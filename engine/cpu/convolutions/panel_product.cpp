// Measured against oneDNN 2.6 with weights that are not in cache, one core with AVX-512: 49 rows,
// 1232 to 1232 channels 1.04 against 1.27 ms; 49 rows, 320 to 1280 0.27 against 0.34; 121 rows, 672
// to 672 0.66 against 0.75; 196 rows, 1024 to 256 0.60 against 0.65; 392 rows, 320 to 1280 alike.
#include "engine/cpu/convolutions/panel_product.h"

#include <algorithm>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/parallel.h"
#include "engine/host/machine.h"

namespace hios::cpu {
namespace {

constexpr std::int64_t kFewestRows = 16, kMostRows = 128;

/// Depths at which it is faster with more rows, too. With less depth, sums go to memory and back
/// for few multiply-adds. Deeper sums are divided by oneDNN, and so have other last bits: there
/// fewer sizes have two methods, an image's and its shards'.
constexpr std::int64_t kShallowest = 192, kDeepest = 1280, kMostRowsBetween = 256;

/// oneDNN's convolutions for AVX2 add the bias first, and so have other last bits: shards of few
/// pixels would not have those of their whole.
constexpr std::ptrdiff_t kFewestLanes = 16;

/// Returns the depth of blocks of a panel's weights. Two thirds of a first-level cache are for
/// them, the rest for the rows of a tile. More than 256 steps gained nothing.
std::int64_t block_depth() {
  const auto bytes = static_cast<std::int64_t>(first_level_cache_bytes());
  const std::int64_t fits = bytes * 2 / 3 / (2 * kernels().lanes * std::int64_t{sizeof(float)});
  return std::clamp<std::int64_t>(fits / 32 * 32, 64, 256);
}

}  // namespace

bool PanelProduct::suits(const ProductSize& size) {
  const bool between = size.depth >= kShallowest && size.depth <= kDeepest;
  const std::int64_t most = between ? kMostRowsBetween : kMostRows;
  return size.rows >= kFewestRows && size.rows <= most && kernels().lanes >= kFewestLanes;
}

PanelProduct::PanelProduct(const Binding& binding, const Layer& layer, const ProductSize& size,
                           const std::optional<Bounds>& bounds)
    : size_(size),
      block_depth_(block_depth()),
      bounds_(bounds.value_or(Bounds{})),
      weights_(binding.weights.for_panels(*binding.operation.model, layer, binding.source)) {}

void PanelProduct::run(int threads, const float* input, const float* addend, float* output) const {
  const Kernels& kernel = kernels();
  const std::int64_t width = 2 * kernel.lanes;
  const std::int64_t panels = (size_.columns + width - 1) / width;
  const std::int64_t tiles = (size_.rows + kernel.panel_rows - 1) / kernel.panel_rows;
  const auto compute = [&](std::int64_t panel, std::int64_t begin, std::int64_t end) {
    const std::int64_t column = panel * width;
    const std::int64_t at = begin * size_.columns + column;
    kernel.multiply_panel({.input = input + begin * size_.depth,
                           .input_stride = size_.depth,
                           .weights = weights_->weight_floats() + column * size_.depth,
                           .bias = weights_->bias_floats() + column,
                           .addend = addend != nullptr ? addend + at : nullptr,
                           .output = output + at,
                           .output_stride = size_.columns,
                           .rows = end - begin,
                           .depth = size_.depth,
                           .columns = std::min(width, size_.columns - column),
                           .block_depth = block_depth_,
                           .floor = bounds_.lowest,
                           .ceiling = bounds_.highest});
  };
  // Panel by panel, and within a panel by tiles, so that shares differ by one tile at most.
  const auto steps = static_cast<std::size_t>(size_.rows * size_.columns * size_.depth);
  parallel_shares(team_for(threads, steps / 32), static_cast<std::size_t>(panels * tiles),
                  [&](std::size_t first, std::size_t last) {
                    auto at = static_cast<std::int64_t>(first);
                    const auto end = static_cast<std::int64_t>(last);
                    while (at < end) {
                      const std::int64_t panel = at / tiles, from = at % tiles;
                      const std::int64_t to = std::min(tiles, from + (end - at));
                      compute(panel, size_.rows * from / tiles, size_.rows * to / tiles);
                      at += to - from;
                    }
                  });
}

}  // namespace hios::cpu
