#include "engine/cpu/bind_convolutions.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/convolutions/convolution.h"
#include "engine/cpu/kernels/parallel.h"
#include "engine/cpu/primitive.h"

// Convolution by Winograd's method (Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", section 4), which oneDNN 2 has for AVX-512. It wants channels in blocks of 16, so both
// tensors are reordered in scratch. That is the whole image at once, or a block of rows after
// another, whose reordered input and output stay in cache. Two neighbouring blocks read the same
// two rows; around the image the reordered input has rows of zeros, and of the last block only the
// rows of the image are kept.
//
// One core with AVX-512, reorders included, against the direct kernel, which reaches the core's
// peak. Whole images: 0.39 to 0.60 of its time on images of 27 to 55 pixels with 32 to 128
// channels, 0.55 on 8×8 with 448, 0.83 on 13×13 with 64, 0.9 to 1 on 147×147 with 32. In blocks of
// four rows: 0.41 to 0.58, 0.55, 0.83 and 0.62 to 0.65. So it is timed (engine/cpu/choices.h).
namespace hios::cpu {
namespace {

using Description = dnnl::convolution_forward::primitive_desc;
using Argument = FixedPrimitive::Argument;

constexpr std::int64_t kLanes = 16;  ///< channels next to each other in the layout of the blocks

dnnl::memory::desc laid_out(const Shape& shape, dnnl::memory::format_tag layout) {
  return {{shape.n, shape.c, shape.h, shape.w}, dnnl::memory::data_type::f32, layout};
}

/// The tensors of one call of the primitive: both whole tensors, with the layer's own padding; or
/// `output.h` rows of one image and the input rows for them, those above and below included.
struct Tile {
  Shape input, output;
  bool whole;
};

/// Returns the whole image, or so many rows for each thread; nothing if the convolution cannot run
/// in blocks. With one thread, a block has its rows whatever the image has: a pixel's bits depend
/// on its distance from the first row, modulo four, and not on the image.
std::optional<Tile> tile_of(const Binding& binding, const ConvolutionChain& chain,
                            std::int64_t rows) {
  const ConvolutionShape shape = shape_of(binding, chain);
  if (rows == 0) return Tile{shape.input, shape.output, true};
  const std::int64_t blocks = (shape.output.h + rows - 1) / rows;
  const std::int64_t height = rows * std::min<std::int64_t>(blocks, binding.share.threads);
  if (shape.input.c % kLanes != 0 || shape.output.c % kLanes != 0) return {};
  return Tile{{1, shape.input.c, height + 2, shape.input.w},
              {1, shape.output.c, height, shape.output.w},
              false};
}

/// Describes the primitive. Throws dnnl::error if there is none.
Description describe(const Binding& binding, const ConvolutionChain& chain, const Tile& tile) {
  Layer layer = binding.layer(chain.convolution);
  ConvolutionShape shape = shape_of(binding, chain);
  shape.input = tile.input;
  shape.output = tile.output;
  if (!tile.whole) {
    Padding& padding = std::get<Conv>(layer.kind).padding;
    padding.begin.h = padding.end.h = 0;
  }
  const auto layout =
      tile.whole ? dnnl::memory::format_tag::any : dnnl::memory::format_tag::nChw16c;
  return describe_convolution(binding, layer, shape, dnnl::algorithm::convolution_winograd,
                              laid_out(tile.input, layout), laid_out(tile.output, layout));
}

class WinogradOperator final : public BoundOperator {
 public:
  WinogradOperator(const Binding& binding, const ConvolutionChain& chain, const Tile& tile,
                   const Description& description)
      : scratch_(binding.scratch),
        weights_(binding.weights.for_primitive(*binding.operation.model,
                                               binding.layer(chain.convolution), binding.source,
                                               description.weights_desc())),
        tile_(tile) {
    const ConvolutionShape shape = shape_of(binding, chain);
    const Shared shared(binding, description, *weights_);
    const float* const input = binding.inputs[chain.terms.front()].floats();
    if (tile.whole) {
      add(binding, shared, nhwc(shape.input), input, description.src_desc(), nhwc(shape.output),
          binding.output, shared.to);
      return;
    }
    const std::int64_t pad = std::get<Conv>(binding.layer(chain.convolution).kind).padding.begin.h;
    for (std::int64_t image = 0; image < shape.output.n; ++image) {
      for (std::int64_t first = 0; first < shape.output.h; first += tile.output.h) {
        add_rows(binding, shared, shape, image, first, first - pad, input);
      }
    }
  }

  void run() override {
    for (Block& block : blocks_) {
      clear(0, block.above);
      clear(tile_.input.h - block.below, block.below);
      for (FixedPrimitive& step : block.steps) step.run();
    }
  }

 private:
  struct Block {
    std::int64_t above = 0, below = 0;  ///< rows of its input outside the image
    std::vector<FixedPrimitive> steps = {};
  };

  /// Data that all blocks share: the primitive, its arguments and their offsets in scratch.
  struct Shared {
    Shared(const Binding& binding, const Description& description, const PackedWeights& weights)
        : primitive(description) {
      const dnnl::engine& engine = binding.engine;
      const auto end_of = [](std::size_t begin, const dnnl::memory::desc& layout) {
        return begin + (layout.get_size() + 63) / 64 * 64;
      };
      to_at = end_of(0, description.src_desc());
      to = description.dst_desc();
      arguments = {
          in_scratch(DNNL_ARG_SRC, description.src_desc(), engine, 0),
          {DNNL_ARG_WEIGHTS, memory_at(description.weights_desc(), engine, weights.weights.get())},
          in_scratch(DNNL_ARG_DST, to, engine, to_at),
          in_scratch(DNNL_ARG_SCRATCHPAD, description.scratchpad_desc(), engine,
                     end_of(to_at, to))};
      if (weights.bias) {
        arguments.push_back(
            {DNNL_ARG_BIAS, memory_at(description.bias_desc(), engine, weights.bias.get())});
      }
    }
    dnnl::convolution_forward primitive;
    std::vector<Argument> arguments;
    dnnl::memory::desc to;
    std::size_t to_at = 0;
  };

  /// Adds a block. `from`: the region of the reordered input that `input` fills; `to`: that of the
  /// reordered output that fills `output`.
  Block& add(const Binding& binding, const Shared& shared, const dnnl::memory::desc& input_layout,
             const float* input, const dnnl::memory::desc& from,
             const dnnl::memory::desc& output_layout, float* output, const dnnl::memory::desc& to) {
    const dnnl::engine& engine = binding.engine;
    Block& block = blocks_.emplace_back();
    const auto reorder = [&](const Argument& source, const Argument& target) {
      block.steps.emplace_back(binding, dnnl::reorder(source.memory, target.memory),
                               std::vector{source, target});
    };
    reorder({DNNL_ARG_FROM, memory_at(input_layout, engine, input)},
            in_scratch(DNNL_ARG_TO, from, engine, 0));
    block.steps.emplace_back(binding, shared.primitive, shared.arguments);
    reorder(in_scratch(DNNL_ARG_FROM, to, engine, shared.to_at),
            {DNNL_ARG_TO, memory_at(output_layout, engine, output)});
    return block;
  }

  /// Adds the block of output rows from `first` on; its input begins at row `top` of the image,
  /// which may be above it.
  void add_rows(const Binding& binding, const Shared& shared, const ConvolutionShape& shape,
                std::int64_t image, std::int64_t first, std::int64_t top, const float* input) {
    const std::int64_t above = std::clamp<std::int64_t>(-top, 0, tile_.input.h);
    const std::int64_t below =
        std::clamp<std::int64_t>(top + tile_.input.h - shape.input.h, 0, tile_.input.h - above);
    const std::int64_t rows = tile_.input.h - above - below;
    const Shape inside{1, shape.input.c, rows, shape.input.w};
    const std::int64_t row = image * shape.input.h + top + above;
    const dnnl::memory::desc from =
        laid_out(tile_.input, dnnl::memory::format_tag::nChw16c)
            .submemory_desc({1, inside.c, rows, inside.w}, {0, 0, above, 0});
    Shape made = tile_.output;
    made.h = std::min(made.h, shape.output.h - first);
    const dnnl::memory::desc to =
        shared.to.submemory_desc({1, made.c, made.h, made.w}, {0, 0, 0, 0});
    Block& block = add(
        binding, shared, nhwc(inside), input + row * inside.w * inside.c, from, nhwc(made),
        binding.output + (image * shape.output.h + first) * shape.output.w * shape.output.c, to);
    block.above = above;
    block.below = below;
  }

  /// Clears rows of the reordered input outside the image.
  void clear(std::int64_t first, std::int64_t rows) {
    if (rows == 0) return;
    const std::int64_t row_values = tile_.input.w * kLanes;
    auto* const input = reinterpret_cast<float*>(scratch_.data());
    for (std::int64_t lanes = 0; lanes < tile_.input.c / kLanes; ++lanes) {
      std::fill_n(input + (lanes * tile_.input.h + first) * row_values, rows * row_values, 0.0f);
    }
  }

  Scratch& scratch_;
  std::shared_ptr<const PackedWeights> weights_;
  Tile tile_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_winograd(const Binding& binding, const ConvolutionChain& chain,
                                             std::int64_t rows) {
  const Layer& layer = binding.layer(chain.convolution);
  const Conv& conv = std::get<Conv>(layer.kind);
  if (chain.addend || conv.kernel != Extent{3, 3} || conv.stride != Extent{1, 1} ||
      conv.dilation != Extent{1, 1} || conv.groups != 1) {
    return nullptr;
  }
  const std::optional<Tile> tile = tile_of(binding, chain, rows);
  if (!tile) return nullptr;
  const ThreadCount as_run(binding.share.threads);
  try {
    const Description description = describe(binding, chain, *tile);
    return std::make_unique<WinogradOperator>(binding, chain, *tile, description);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) {
      return nullptr;
    }
    throw RunError("oneDNN, making the convolution " + layer.name + ": " + error.message);
  }
}

}  // namespace hios::cpu
