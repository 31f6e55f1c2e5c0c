#include "engine/cpu/bind_convolutions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/backend/arena.h"
#include "engine/cpu/convolutions/block_division.h"
#include "engine/cpu/convolutions/convolution.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/primitive.h"

// Convolution by Winograd's method F(4×4, 3×3) (Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", section 4), with a quarter of the multiplications. Tiles of 4×4 outputs are
// computed in blocks of tile rows, which may belong to several images:
//  1. our kernel transforms the inputs of each tile into a vector of channels for each of 36
//     positions (engine/cpu/kernels/winograd_body.h);
//  2. oneDNN multiplies, for each position, the matrix of all tiles with that of the weights;
//  3. our kernel transforms the products into outputs, and adds bias and addend. A relu is a
//     maximum with each value; another activation takes the values while they are in cache.
//
// One core with AVX-512, against the direct kernel, which reaches the core's peak, and oneDNN's
// own Winograd between two reorders (which oneDNN 3 lacks): 56×56 with 64 channels 1.35 ms, 0.94
// and here 0.51; 28×28 with 128: 1.28, 0.80, 0.50; 14×14 with 256: 1.22, 1.00, 0.72; 35×35, 96 to
// 96: 1.12, 0.71, 0.46; 147×147, 32 to 64: 4.71, 3.67, 2.10; 54×54, 16 to 64: 0.31, 0.27, 0.17. It
// is slower where the four times larger weights are read for a few tiles: 7×7 with 512 channels. So
// it is timed (engine/cpu/choices.h).
//
// A tile's values depend on no other tile's, so a shard that begins at a fourth row of the image
// has the bits of the whole. But below AVX-512, oneDNN 2.6 sums in an order that depends on the
// number of tiles of a product, and on five threads or more. Blocks of four rows have equal
// products; certification finds the rest.
namespace hios::cpu {
namespace {

constexpr std::int64_t kPositions = kWinogradPositions, kTile = kWinogradTile;
constexpr auto kFloatBytes = static_cast<std::int64_t>(sizeof(float));

/// The most bytes of a block between the steps: larger ones are far beyond any cache.
constexpr std::int64_t kMostBlockBytes = 64 * 1024 * 1024;

/// The product of a block: for each position inputs, tiles × channels, by weights.
struct Matrices {
  using Desc = dnnl::memory::desc;

  /// `layout`: that of the weights; null: oneDNN's choice.
  Matrices(const dnnl::engine& engine, std::int64_t in, std::int64_t out, std::int64_t tiles,
           const Desc* layout = nullptr)
      : inputs({kPositions, tiles, in}, dnnl::memory::data_type::f32,
               dnnl::memory::format_tag::abc),
        products({kPositions, tiles, out}, dnnl::memory::data_type::f32,
                 dnnl::memory::format_tag::abc) {
    const Desc any({kPositions, in, out}, dnnl::memory::data_type::f32,
                   dnnl::memory::format_tag::any);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto description =
        described<dnnl::matmul>(engine, attributes, inputs, layout ? *layout : any, products);
    weights = description.weights_desc();
    scratchpad = description.scratchpad_desc();
    primitive = dnnl::matmul(description);
  }

  std::size_t inputs_bytes() const { return aligned_size(inputs.get_size()); }
  std::size_t scratch_bytes(std::size_t products_at) const {
    return products_at + aligned_size(products.get_size()) + aligned_size(scratchpad.get_size());
  }

  /// Makes the product in scratch from `begin` on. `products_at`: the place of its results, there.
  FixedPrimitive product(const Binding& binding, const PackedWeights& packed, std::size_t begin,
                         std::size_t products_at) const {
    const dnnl::engine& engine = binding.engine;
    const std::size_t at = begin + products_at;
    return {binding,
            primitive,
            {in_scratch(DNNL_ARG_SRC, inputs, engine, begin),
             {DNNL_ARG_WEIGHTS, memory_at(weights, engine, packed.weights.get())},
             in_scratch(DNNL_ARG_DST, products, engine, at),
             in_scratch(DNNL_ARG_SCRATCHPAD, scratchpad, engine,
                        at + aligned_size(products.get_size()))}};
  }

  Desc inputs, products, weights, scratchpad;
  dnnl::matmul primitive;
};

class WinogradOperator final : public BoundOperator {
 public:
  WinogradOperator(const Binding& binding, const ConvolutionChain& chain, std::int64_t rows);
  void run() override;

 private:
  struct Worker {
    FixedPrimitive product, lesser_product;  // of the larger blocks, and of others
  };
  /// Tiles next to each other: `count` from tile `column` of a tile row of all images on.
  struct Tiles {
    std::int64_t row, column, count;
  };

  void compute(std::size_t worker, std::int64_t first, std::int64_t count);
  template <class Body>
  void for_tiles(std::int64_t first, std::int64_t tiles, Body&& body) const;
  void transform_inputs(const Tiles& tiles, float* to, std::int64_t position) const;
  void transform_outputs(const Tiles& tiles, const float* from, std::int64_t position) const;

  Shape input_, output_shape_;
  const float* image_;
  const float* addend_;  // null: none
  float* output_;
  Extent padding_;
  float floor_ = -std::numeric_limits<float>::infinity();
  ActivationPass after_;             // but a relu
  std::int64_t tile_rows_, across_;  // tiles of an image
  BlockWorkers blocks_;
  std::shared_ptr<const PackedWeights> weights_;
  std::vector<Worker> workers_;
  Scratch& scratch_;
  std::size_t products_at_ = 0, scratch_of_each_ = 0;  // in bytes; the inputs come first
};

std::int64_t tiles_for(std::int64_t outputs) { return quotient_up(outputs, kTile); }

RowsInBlocks tile_rows_of(const Shape& input, const Shape& output) {
  return {output.n * tiles_for(output.h),
          kFloatBytes * kPositions * tiles_for(output.w) * (input.c + output.c),
          kFloatBytes * kPositions * input.c * output.c};
}

WinogradOperator::WinogradOperator(const Binding& binding, const ConvolutionChain& chain,
                                   std::int64_t rows)
    : input_(binding.inputs[chain.terms.front()].shape),
      output_shape_(binding.output_shape()),
      image_(binding.inputs[chain.terms.front()].floats()),
      addend_(chain.addend ? binding.inputs[*chain.addend].floats() : nullptr),
      output_(binding.output),
      tile_rows_(tiles_for(output_shape_.h)),
      across_(tiles_for(output_shape_.w)),
      blocks_(
          divide_rows(tile_rows_of(input_, output_shape_), binding.share.threads, tiles_for(rows))),
      scratch_(binding.scratch) {
  const Layer& layer = binding.layer(chain.convolution);
  padding_ = std::get<Conv>(layer.kind).padding.begin;
  if (const LayerKind* const activation = activation_of(binding, chain)) {
    if (std::holds_alternative<Relu>(*activation)) {
      floor_ = 0;
    } else {
      after_ = ActivationPass(*activation);
    }
  }
  const BlockDivision& blocks = blocks_.division();
  const ThreadCount as_run(blocks.threads);
  const Matrices whole(binding.engine, input_.c, output_shape_.c, blocks.most_rows() * across_);
  const Matrices lesser(binding.engine, input_.c, output_shape_.c, blocks.fewest_rows() * across_,
                        &whole.weights);
  weights_ =
      binding.weights.for_winograd(*binding.operation.model, layer, binding.source, whole.weights);
  products_at_ = whole.inputs_bytes();
  scratch_of_each_ =
      std::max(whole.scratch_bytes(products_at_), lesser.scratch_bytes(products_at_));
  for (std::size_t i = 0; i < static_cast<std::size_t>(blocks.workers); ++i) {
    const dnnl::stream stream(binding.engine);
    const Binding own = binding.on(stream, blocks.threads);
    workers_.push_back({whole.product(own, *weights_, i * scratch_of_each_, products_at_),
                        lesser.product(own, *weights_, i * scratch_of_each_, products_at_)});
  }
}

void WinogradOperator::run() {
  blocks_.run([this](std::size_t worker, std::int64_t first, std::int64_t count) {
    compute(worker, first, count);
  });
}

/// Computes `count` tile rows of all images from `first` on.
void WinogradOperator::compute(std::size_t index, std::int64_t first, std::int64_t count) {
  std::byte* const scratch = scratch_.data() + index * scratch_of_each_;
  auto* const inputs = reinterpret_cast<float*>(scratch);
  auto* const products = reinterpret_cast<float*>(scratch + products_at_);
  const std::int64_t tiles = count * across_;
  for_tiles(first, tiles, [&](const Tiles& some, std::int64_t tile) {
    transform_inputs(some, inputs + tile * input_.c, tiles * input_.c);
  });
  Worker& worker = workers_[index];
  const bool whole = count == blocks_.division().most_rows();
  (whole ? worker.product : worker.lesser_product).run();
  for_tiles(first, tiles, [&](const Tiles& some, std::int64_t tile) {
    transform_outputs(some, products + tile * output_shape_.c, tiles * output_shape_.c);
  });
}

/// Divides the block's tiles evenly among the worker's threads and calls body(tiles of a tile row,
/// the first one's place in the block).
template <class Body>
void WinogradOperator::for_tiles(std::int64_t first, std::int64_t tiles, Body&& body) const {
  parallel_shares(blocks_.division().threads, static_cast<std::size_t>(tiles),
                  [&](std::size_t begin, std::size_t end) {
                    auto tile = static_cast<std::int64_t>(begin);
                    while (tile < static_cast<std::int64_t>(end)) {
                      const std::int64_t column = tile % across_;
                      const std::int64_t count =
                          std::min(across_ - column, static_cast<std::int64_t>(end) - tile);
                      body(Tiles{first + tile / across_, column, count}, tile);
                      tile += count;
                    }
                  });
}

void WinogradOperator::transform_inputs(const Tiles& tiles, float* to,
                                        std::int64_t position) const {
  const std::int64_t image = tiles.row / tile_rows_, row = tiles.row % tile_rows_;
  kernels().winograd_input({.image = image_ + image * input_.h * input_.w * input_.c,
                            .height = input_.h,
                            .width = input_.w,
                            .channels = input_.c,
                            .top = row * kTile - padding_.h,
                            .left = tiles.column * kTile - padding_.w,
                            .tiles = tiles.count,
                            .output = to,
                            .position = position});
}

void WinogradOperator::transform_outputs(const Tiles& tiles, const float* from,
                                         std::int64_t position) const {
  const Shape& out = output_shape_;
  const std::int64_t top = tiles.row % tile_rows_ * kTile, left = tiles.column * kTile;
  const std::int64_t image_row = tiles.row / tile_rows_ * out.h + top;
  const std::int64_t offset = (image_row * out.w + left) * out.c;
  kernels().winograd_output({.input = from,
                             .position = position,
                             .tiles = tiles.count,
                             .bias = weights_->bias_floats(),
                             .addend = addend_ != nullptr ? addend_ + offset : nullptr,
                             .floor = floor_,
                             .output = output_ + offset,
                             .height = out.h - top,
                             .width = out.w - left,
                             .channels = out.c,
                             .row = out.w * out.c});
  if (!after_) return;
  const std::int64_t pixels = std::min(tiles.count * kTile, out.w - left);
  for (std::int64_t y = 0; y < std::min(kTile, out.h - top); ++y) {
    after_.run(output_ + offset + y * out.w * out.c, static_cast<std::size_t>(pixels * out.c));
  }
}

}  // namespace

std::unique_ptr<BoundOperator> bind_winograd(const Binding& binding, const ConvolutionChain& chain,
                                             std::int64_t rows) {
  const Layer& layer = binding.layer(chain.convolution);
  const Conv& conv = std::get<Conv>(layer.kind);
  if (conv.kernel != Extent{3, 3} || conv.stride != Extent{1, 1} || conv.dilation != Extent{1, 1} ||
      conv.groups != 1) {
    return nullptr;
  }
  const Shape& input = binding.inputs[chain.terms.front()].shape;
  const RowsInBlocks all = tile_rows_of(input, binding.output_shape());
  const std::int64_t block_rows = std::clamp<std::int64_t>(tiles_for(rows), 1, all.rows);
  if (block_rows * all.row_bytes > kMostBlockBytes) return nullptr;
  return with_dnnl([&] { return "making the convolution " + layer.name; },
                   [&] { return std::make_unique<WinogradOperator>(binding, chain, rows); });
}

}  // namespace hios::cpu
