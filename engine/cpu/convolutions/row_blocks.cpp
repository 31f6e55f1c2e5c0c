#include <algorithm>
#include <map>
#include <tuple>

#include "engine/cpu/bind_convolutions.h"
#include "engine/cpu/convolutions/convolution.h"

// A direct convolution in blocks of rows, each of which is an image of its own. oneDNN chooses its
// loops by the image's size, and with them the order of the sums: 288 channels to 384 by 3×3 at
// stride 2 have other last bits in 8 rows than in 17. Blocks of fixed rows are the same primitives
// in a shard as in its whole. They take the time of the shards that they could be.
namespace hios::cpu {
namespace {

/// The output rows of a block, and the input rows that they read.
struct BlockRows {
  std::int64_t first, end;
  std::int64_t input_first, input_end;
  std::int64_t above, below;  ///< rows of padding

  auto shape() const { return std::tuple(end - first, input_end - input_first, above, below); }
};

BlockRows block_at(const Conv& conv, std::int64_t first, std::int64_t end, std::int64_t height) {
  const std::int64_t top = first * conv.stride.h - conv.padding.begin.h;
  const std::int64_t bottom =
      (end - 1) * conv.stride.h - conv.padding.begin.h + (conv.kernel.h - 1) * conv.dilation.h + 1;
  return {first,
          end,
          std::max<std::int64_t>(top, 0),
          std::min(bottom, height),
          std::max<std::int64_t>(-top, 0),
          std::max<std::int64_t>(bottom - height, 0)};
}

class RowBlocksOperator final : public BoundOperator {
 public:
  RowBlocksOperator(const Binding& binding, const ConvolutionChain& chain, std::int64_t rows)
      : addend_(chain.addend ? binding.inputs[*chain.addend].floats() : nullptr),
        output_(binding.output),
        scratch_(binding.scratch) {
    const Layer& layer = binding.layer(chain.convolution);
    const auto& conv = std::get<Conv>(layer.kind);
    const Source input = binding.inputs[chain.terms.front()];
    const Shape output = binding.output_shape();
    for (std::int64_t image = 0; image < output.n; ++image) {
      for (std::int64_t first = 0; first < output.h; first += rows) {
        const BlockRows block =
            block_at(conv, first, std::min(first + rows, output.h), input.shape.h);
        const std::int64_t from = image * input.shape.h + block.input_first;
        steps_.push_back({primitive(binding, chain, block),
                          input.floats() + from * input.shape.w * input.shape.c,
                          output_ + (image * output.h + first) * output.w * output.c});
      }
    }
  }

  void run() override {
    for (const Step& step : steps_) {
      const float* const addend = addend_ != nullptr ? addend_ + (step.output - output_) : nullptr;
      step.primitive->run(step.input, addend, step.output, scratch_.data());
    }
  }

 private:
  struct Step {
    ConvolutionPrimitive* primitive;
    const float* input;
    float* output;
  };

  /// Returns the primitive for blocks of this shape.
  ConvolutionPrimitive* primitive(const Binding& binding, const ConvolutionChain& chain,
                                  const BlockRows& block) {
    const auto found = primitives_.find(block.shape());
    if (found != primitives_.end()) return &found->second;
    Layer layer = binding.layer(chain.convolution);
    Conv& conv = std::get<Conv>(layer.kind);
    conv.padding.begin.h = block.above;
    conv.padding.end.h = block.below;
    const Shape& input = binding.inputs[chain.terms.front()].shape;
    const Shape& output = binding.output_shape();
    const ConvolutionShape shape{{1, input.c, block.input_end - block.input_first, input.w},
                                 {1, output.c, block.end - block.first, output.w},
                                 conv.stride,
                                 chain.addend.has_value(),
                                 activation_of(binding, chain)};
    ConvolutionPrimitive& made =
        primitives_.try_emplace(block.shape(), binding, layer, shape).first->second;
    scratch_.reserve(made.scratch_bytes());
    return &made;
  }

  const float* addend_;  // null: none
  float* output_;
  Scratch& scratch_;
  std::map<decltype(BlockRows().shape()), ConvolutionPrimitive> primitives_;
  std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_row_blocks(const Binding& binding,
                                               const ConvolutionChain& chain, std::int64_t rows) {
  return std::make_unique<RowBlocksOperator>(binding, chain, rows);
}

}  // namespace hios::cpu
