#include "engine/cpu/bind_convolutions.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cpu/convolutions/convolution.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/row_chunks.h"

// Sum, relu, depthwise convolution and activation, or a product with a gate, before a pointwise
// convolution, and an addend after it, without a pass over memory for each. NASNet and RandWire
// consist mostly of these, and separate passes cost a fifth of their time.
//
// The output is made in blocks of rows. For each block a team fills `middle`, the block's input to
// the pointwise convolution, which is small enough to stay in the second-level cache. Then oneDNN's
// 1×1 convolution, with bias and trailing relu as post-operations, reads it from there and writes
// the output. The middle is filled as follows:
//  - with a depthwise convolution: our window kernel (engine/cpu/kernels/kernels_body.h), which
//    applies the relu to its inputs as it loads them; a sum before it is first made in scratch, for
//    the input rows that the block needs; an activation after it takes each row in place;
//  - without: the sum and relu of those input pixels that the stride keeps, or their product with
//    the gate;
//  - with no layer before the pointwise convolution: not at all, the convolution reads the input.
//
// An activation in a pass of its own (activation_pass.h) finds the block of the output in cache.
//
// An addend is copied into the block of the output, where the convolution, which reads and writes
// it, finds it in cache. (oneDNN 2.6 accepts an addend, but then uses a slower kernel: 1.4 times
// the time on 56×56, 64 to 256 channels.)
//
// Measured on NASNet's and RandWire's 18 largest operators, one core with AVX-512, sources not in
// cache, against the best of oneDNN's own three primitives (eltwise, brdgmm_dw, brgconv_1x1): 12.8
// against 14.6 ms in sum; 168 channels 42×42 5×5: 0.71 against 0.85 ms; 42 channels 83×83 7×7: 0.47
// against 0.67 ms; never slower. Whole networks by CPU time of one core: NASNet 337 against 409 ms,
// RandWire 134 against 163 ms (bench/raw_onednn). Two variants were slower: padding and relu into a
// channel-blocked scratch before the depthwise kernel (gained half as much), and the kernel chunk
// by chunk over a block's whole plane instead of row by row (13.5 to 13.8 ms). A pointwise kernel
// of our own reached mostly 85 to 95 % of brgconv_1x1, which is why oneDNN keeps that half. Blocks
// of 256 KiB and 1 MiB made no difference.
//
// Rows and chunks are divided evenly among the team; each value is computed by one thread in an
// order that does not depend on the division. Tests in tests/engine/cpu/: operators_test.cpp, and
// backend_test.cpp for the borders between blocks.
namespace hios::cpu {
namespace {

/// The size of `middle` for each thread: half of a small second-level cache, so that weights and
/// input rows also fit into it.
constexpr std::int64_t kMiddleBytes = 512 * 1024;

constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

struct BlockOfRows {
  std::int64_t image, first, count;
};

class SeparableOperator final : public BoundOperator {
 public:
  SeparableOperator(const Binding& binding, const ConvolutionChain& chain);
  void run() override;

 private:
  void plan_blocks();
  void reserve_scratch();
  void fill_by_depthwise(const BlockOfRows& block, float* middle, float* sums);
  void activate(const WindowTask& row) const;
  void fill_by_combining(const BlockOfRows& block, float* middle);
  void fill_pixels(std::int64_t image, std::size_t from, std::size_t pixels, float* to) const;
  const float* middle_of(const BlockOfRows& block, std::byte* scratch);
  const float* sum_rows(std::int64_t image, std::int64_t first, std::int64_t last, float* sums);
  Shape block_shape(std::int64_t channels, std::int64_t rows) const {
    return {1, channels, rows, middle_.w};
  }

  int threads_;
  std::vector<const float*> terms_;
  const float* gate_;                    // null: none
  const float* addend_;                  // null: none
  Shape input_, middle_, output_shape_;  // whole tensors
  float* output_;
  float floor_;
  Extent stride_;                    // from input pixels to those of the middle
  bool reads_input_ = false;         // the middle is the input
  std::optional<RowWindow> window_;  // no depthwise: empty
  WindowRow depthwise_row_ = nullptr;
  ActivationPass between_;  // after the depthwise convolution
  std::shared_ptr<const PackedWeights> depthwise_weights_;
  std::int64_t block_rows_ = 0, last_rows_ = 0;
  std::optional<ConvolutionPrimitive> pointwise_, last_pointwise_;
  Scratch& scratch_;
  std::size_t sums_offset_ = 0, dnnl_offset_ = 0;  // in bytes; `middle` comes first
};

SeparableOperator::SeparableOperator(const Binding& binding, const ConvolutionChain& chain)
    : threads_(binding.share.threads),
      gate_(chain.gate ? binding.inputs[*chain.gate].floats() : nullptr),
      addend_(chain.addend ? binding.inputs[*chain.addend].floats() : nullptr),
      input_(binding.inputs[chain.terms.front()].shape),
      output_shape_(binding.output_shape()),
      output_(binding.output),
      floor_(chain.relu_before ? 0.0f : kNoFloor),
      scratch_(binding.scratch) {
  for (const InputIndex term : chain.terms) terms_.push_back(binding.inputs[term].floats());
  const Conv& front =
      std::get<Conv>(binding.layer(chain.depthwise.value_or(chain.convolution)).kind);
  stride_ = front.stride;
  reads_input_ = !chain.has_front() && stride_ == Extent{1, 1};
  if (reads_input_) {
    input_ = as_one_image(input_);
    output_shape_ = as_one_image(output_shape_);
  }
  middle_ = {input_.n, input_.c, output_shape_.h, output_shape_.w};
  if (chain.depthwise) {
    window_ = window_of(input_, middle_, front.kernel, front.stride, front.padding.begin);
    depthwise_row_ = kernels().depthwise(*window_);
    depthwise_weights_ = binding.weights.for_window(
        *binding.operation.model, binding.layer(*chain.depthwise), binding.source);
  }
  if (chain.between) between_ = ActivationPass(binding.layer(*chain.between).kind);
  plan_blocks();
  const auto make = [&](std::int64_t rows, const dnnl::memory::desc* layout) {
    const ConvolutionShape shape{block_shape(middle_.c, rows),
                                 block_shape(output_shape_.c, rows),
                                 {1, 1},
                                 chain.addend.has_value(),
                                 activation_of(binding, chain)};
    return ConvolutionPrimitive(binding, binding.layer(chain.convolution), shape, layout);
  };
  pointwise_.emplace(make(block_rows_, nullptr));
  if (last_rows_ != block_rows_) {
    last_pointwise_.emplace(make(last_rows_, &pointwise_->weights().layout));
  }
  reserve_scratch();
}

void SeparableOperator::plan_blocks() {
  const std::int64_t rows = middle_.h;
  // Every block reads all weights; if they are many, fewer blocks are better than a middle in
  // cache. (11×11, 3360 to 672 channels, 9 MB of weights: 4 blocks took 1.25 times as long as one.)
  const auto weights_bytes = static_cast<std::int64_t>(sizeof(float)) * middle_.c * output_shape_.c;
  const std::int64_t limit = std::max(kMiddleBytes * threads_, weights_bytes);
  const std::int64_t channels =
      reads_input_ ? output_shape_.c : middle_.c;  // the channels that shall stay in cache
  const auto row_bytes = static_cast<std::int64_t>(sizeof(float)) * middle_.w * channels;
  const std::int64_t wanted = std::min(rows, (rows * row_bytes + limit - 1) / limit);
  block_rows_ = (rows + wanted - 1) / wanted;
  const std::int64_t blocks = (rows + block_rows_ - 1) / block_rows_;
  last_rows_ = rows - (blocks - 1) * block_rows_;
}

void SeparableOperator::reserve_scratch() {
  const auto aligned = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  if (!reads_input_) {
    sums_offset_ =
        aligned(block_shape(middle_.c, block_rows_).size_bytes(element_bytes(Precision::kFp32)));
  }
  dnnl_offset_ = sums_offset_;
  if (window_ && terms_.size() > 1) {
    const std::int64_t rows = (block_rows_ - 1) * stride_.h + window_->kernel_height;
    dnnl_offset_ += aligned(Shape{1, input_.c, std::min(rows, input_.h), input_.w}.size_bytes(
        element_bytes(Precision::kFp32)));
  }
  const std::size_t last = last_pointwise_ ? last_pointwise_->scratch_bytes() : 0;
  scratch_.reserve(dnnl_offset_ + std::max(pointwise_->scratch_bytes(), last));
}

void SeparableOperator::run() {
  std::byte* scratch = scratch_.data();
  for (std::int64_t image = 0; image < middle_.n; ++image) {
    for (std::int64_t first = 0; first < middle_.h; first += block_rows_) {
      const BlockOfRows block{image, first, std::min(block_rows_, middle_.h - first)};
      const float* const middle = middle_of(block, scratch);
      const std::int64_t row_values = output_shape_.w * output_shape_.c;
      const std::int64_t offset = (image * middle_.h + first) * row_values;
      if (addend_ != nullptr) {
        copy_floats(threads_, addend_ + offset, output_ + offset,
                    static_cast<std::size_t>(block.count * row_values));
      }
      ConvolutionPrimitive& pointwise = block.count == block_rows_ ? *pointwise_ : *last_pointwise_;
      pointwise.run(middle, output_ + offset, scratch + dnnl_offset_);
    }
  }
}

const float* SeparableOperator::middle_of(const BlockOfRows& block, std::byte* scratch) {
  if (reads_input_) {
    return terms_.front() + (block.image * middle_.h + block.first) * middle_.w * middle_.c;
  }
  auto* const middle = reinterpret_cast<float*>(scratch);
  if (window_) {
    fill_by_depthwise(block, middle, reinterpret_cast<float*>(scratch + sums_offset_));
  } else {
    fill_by_combining(block, middle);
  }
  return middle;
}

void SeparableOperator::fill_by_depthwise(const BlockOfRows& block, float* middle, float* sums) {
  WindowTask task{};
  task.floor = floor_;
  task.weights = reinterpret_cast<const float*>(depthwise_weights_->weights.get());
  task.bias = reinterpret_cast<const float*>(depthwise_weights_->bias.get());
  const std::int64_t image_values = input_.h * input_.w * input_.c;
  task.rows = terms_.front() + block.image * image_values;
  if (terms_.size() > 1) {
    const std::int64_t top = block.first * stride_.h - window_->pad_height;
    const std::int64_t bottom = top + (block.count - 1) * stride_.h + window_->kernel_height;
    task.first_row = std::max<std::int64_t>(0, top);
    task.rows = sum_rows(block.image, task.first_row, std::min(input_.h, bottom), sums);
  }
  parallel_row_chunks(threads_, static_cast<std::size_t>(block.count), chunks_of(middle_.c),
                      [&](std::size_t row, std::size_t first_chunk, std::size_t last_chunk) {
                        WindowTask part = task;
                        part.row = block.first + static_cast<std::int64_t>(row);
                        part.first_chunk = static_cast<std::ptrdiff_t>(first_chunk);
                        part.last_chunk = static_cast<std::ptrdiff_t>(last_chunk);
                        part.output =
                            middle + static_cast<std::int64_t>(row) * middle_.w * middle_.c;
                        depthwise_row_(*window_, part);
                        if (between_) activate(part);
                      });
}

/// Applies the activation to the chunks of a row of the middle.
void SeparableOperator::activate(const WindowTask& row) const {
  const auto lanes = static_cast<std::ptrdiff_t>(kernels().lanes);
  const std::ptrdiff_t first = row.first_chunk * lanes;
  const std::ptrdiff_t last = std::min<std::ptrdiff_t>(row.last_chunk * lanes, middle_.c);
  const bool whole = first == 0 && last == middle_.c;
  const std::ptrdiff_t runs = whole ? 1 : middle_.w;
  const auto count = static_cast<std::size_t>((last - first) * (whole ? middle_.w : 1));
  for (std::ptrdiff_t i = 0; i < runs; ++i) {
    between_.run(row.output + i * middle_.c + first, count);
  }
}

/// Computes input rows [first, last) of the sum of the terms, in `sums`.
const float* SeparableOperator::sum_rows(std::int64_t image, std::int64_t first, std::int64_t last,
                                         float* sums) {
  const auto row_values = static_cast<std::size_t>(input_.w * input_.c);
  const auto offset = static_cast<std::size_t>(image * input_.h + first) * row_values;
  // One row at a time, so that the first term's row is still in cache when the last term is added.
  parallel_shares(threads_, static_cast<std::size_t>(last - first),
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t row = begin; row < end; ++row) {
                      kernels().combine({.terms = terms_.data(),
                                         .term_count = terms_.size(),
                                         .term_offset = offset + row * row_values,
                                         .term_stride = row_values,
                                         .output = sums + row * row_values,
                                         .output_stride = row_values,
                                         .pixels = 1,
                                         .channels = row_values,
                                         .floor = kNoFloor});
                    }
                  });
  return sums;
}

void SeparableOperator::fill_by_combining(const BlockOfRows& block, float* middle) {
  const auto channels = static_cast<std::size_t>(input_.c);
  const auto width = static_cast<std::size_t>(middle_.w);
  const auto step = static_cast<std::size_t>(stride_.w);
  parallel_shares(
      threads_, static_cast<std::size_t>(block.count) * width,
      [&](std::size_t begin, std::size_t end) {
        while (begin < end) {
          const std::size_t row = begin / width, column = begin % width;
          const std::size_t pixels = std::min(width - column, end - begin);
          const auto source_row = static_cast<std::size_t>(
              block.image * input_.h + (block.first + static_cast<std::int64_t>(row)) * stride_.h);
          const std::size_t from =
              (source_row * static_cast<std::size_t>(input_.w) + column * step) * channels;
          fill_pixels(block.image, from, pixels, middle + begin * channels);
          begin += pixels;
        }
      });
}

/// Fills pixels of one row of the middle. `from`: the value of the input at which they begin.
void SeparableOperator::fill_pixels(std::int64_t image, std::size_t from, std::size_t pixels,
                                    float* to) const {
  const auto channels = static_cast<std::size_t>(input_.c);
  const std::size_t stride = static_cast<std::size_t>(stride_.w) * channels;
  if (gate_ != nullptr) {
    kernels().gate({.input = terms_.front() + from,
                    .input_stride = stride,
                    .gate = gate_ + image * input_.c,
                    .output = to,
                    .pixels = pixels,
                    .channels = channels});
    return;
  }
  kernels().combine({.terms = terms_.data(),
                     .term_count = terms_.size(),
                     .term_offset = from,
                     .term_stride = stride,
                     .output = to,
                     .output_stride = channels,
                     .pixels = pixels,
                     .channels = channels,
                     .floor = floor_});
}

}  // namespace

std::unique_ptr<BoundOperator> bind_separable(const Binding& binding,
                                              const ConvolutionChain& chain) {
  return std::make_unique<SeparableOperator>(binding, chain);
}

}  // namespace hios::cpu
