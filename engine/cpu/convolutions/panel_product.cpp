// Measured against oneDNN 2.6 with weights that are not in cache, one core with AVX-512: 49 rows,
// 1232 to 1232 channels 1.04 against 1.27 ms; 49 rows, 320 to 1280 0.27 against 0.34; 121 rows, 672
// to 672 0.65 against 0.76; 441 rows, 2016 to 336 3.66 against 3.95; 196 rows, 1024 to 256 0.60
// against 0.65; 392 rows, 320 to 1280 alike.
#include "engine/cpu/convolutions/panel_product.h"

#include <algorithm>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/panels.h"
#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {
namespace {

constexpr std::int64_t kFewestRows = 16, kMostRows = 128;

/// Depths from which on it is faster with more rows, too: with less, sums go to memory and back for
/// few multiply-adds. Still more rows need so many columns, in panels of three chunks.
constexpr std::int64_t kDeep = 192, kMostRowsOfDeep = 256;
constexpr std::int64_t kWideColumns = 192, kMostRowsOfWide = 512;

/// oneDNN divides deeper sums, and so gives them other last bits. A whole of more rows than suit
/// the product, cut into shards that do, is not certified then.
constexpr std::int64_t kDeepestAlike = 1280;

/// oneDNN's convolutions for AVX2 add the bias first, and so have other last bits: shards of few
/// pixels would not have those of their whole.
constexpr std::ptrdiff_t kFewestLanes = 16;

/// The depth of blocks of a panel's weights. Blocks that stay in the first-level cache took 1.04 to
/// 1.1 times as long: between blocks, sums go to the output and back.
constexpr std::int64_t kBlockDepth = 768;

}  // namespace

bool PanelProduct::suits(const ProductSize& size, std::int64_t all_rows) {
  std::int64_t most = kMostRows;
  if (size.depth >= kDeep) {
    const bool three = panel_columns(size.columns) > 2 * kernels().lanes;
    most = three && size.columns >= kWideColumns ? kMostRowsOfWide : kMostRowsOfDeep;
  }
  const std::int64_t rows = size.depth > kDeepestAlike ? all_rows : size.rows;
  return rows >= kFewestRows && rows <= most && kernels().lanes >= kFewestLanes;
}

PanelProduct::PanelProduct(const Binding& binding, const Layer& layer, const ProductSize& size,
                           const std::optional<Bounds>& bounds)
    : size_(size),
      bounds_(bounds.value_or(Bounds{})),
      weights_(binding.weights.for_panels(*binding.operation.model, layer, binding.source)) {}

void PanelProduct::run(int threads, const float* input, const float* addend, float* output) const {
  const Kernels& kernel = kernels();
  const std::int64_t chunks = quotient_up(size_.columns, kernel.lanes);
  const std::int64_t most = panel_columns(size_.columns) / kernel.lanes;
  const std::int64_t tiles = quotient_up(size_.rows, kernel.panel_sums / most);
  // Panel by panel, and within a panel by tiles. A share's borders count tiles of one chunk, so
  // that shares are even where the last panel has fewer; here they become tiles of panels.
  const auto tile_at = [&](std::size_t border) {
    const auto at = static_cast<std::int64_t>(border);
    const std::int64_t panel = at / (most * tiles);
    const std::int64_t width = std::clamp<std::int64_t>(chunks - panel * most, 1, most);
    return panel * tiles + at % (most * tiles) / width;
  };
  const auto steps = static_cast<std::size_t>(size_.rows * size_.columns * size_.depth);
  parallel_shares(team_for(threads, steps / 32), static_cast<std::size_t>(chunks * tiles),
                  [&](std::size_t first, std::size_t last) {
                    const std::int64_t end = tile_at(last);
                    for (std::int64_t at = tile_at(first); at < end;) {
                      const std::int64_t panel = at / tiles, from = at % tiles;
                      const std::int64_t to = std::min(tiles, from + (end - at));
                      const std::int64_t row = size_.rows * from / tiles;
                      compute({panel, row, size_.rows * to / tiles - row}, input, addend, output);
                      at += to - from;
                    }
                  });
}

void PanelProduct::compute(const PanelPart& part, const float* input, const float* addend,
                           float* output) const {
  const Kernels& kernel = kernels();
  const std::int64_t width = panel_columns(size_.columns);
  const std::int64_t column = part.panel * width;
  const std::int64_t at = part.row * size_.columns + column;
  kernel.multiply_panel({.input = input + part.row * size_.depth,
                         .input_stride = size_.depth,
                         .weights = weights_->weight_floats() + column * size_.depth,
                         .bias = weights_->bias_floats() + column,
                         .addend = addend != nullptr ? addend + at : nullptr,
                         .output = output + at,
                         .output_stride = size_.columns,
                         .rows = part.rows,
                         .depth = size_.depth,
                         .columns = std::min(width, size_.columns - column),
                         .block_depth = kBlockDepth,
                         .floor = bounds_.lowest,
                         .ceiling = bounds_.highest});
}

}  // namespace hios::cpu
