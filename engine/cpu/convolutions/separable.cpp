#include "engine/cpu/bind_convolutions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/backend/arena.h"
#include "engine/cpu/convolutions/block_division.h"
#include "engine/cpu/convolutions/convolution.h"
#include "engine/cpu/convolutions/depthwise_pass.h"
#include "engine/cpu/kernels/kernels.h"

// Sum, relu, depthwise convolution and activation, or a product with a gate, before a pointwise
// convolution, and an addend after it, without a pass over memory for each. NASNet and RandWire
// consist mostly of these, and separate passes cost a fifth of their time.
//
// The output is made in blocks of rows or pixels, which may belong to several images. For each
// block `middle` is filled, the block's input to the pointwise convolution, which is small enough
// to stay in the second-level cache. Then the 1×1 convolution (convolution.h), with bias and
// trailing relu in its pass, reads it from there and writes the output. The middle is filled as
// follows:
//  - with a depthwise convolution: our window kernel (engine/cpu/kernels/windows_body.h), which
//    applies the relu to its inputs as it loads them; a sum before it is first made in scratch,
//    with the relu, for the input rows that the block needs; an activation after it takes each row
//    in place;
//  - without: the sum and relu of those input pixels that the stride keeps, or their product with
//    the gate;
//  - with no layer before the pointwise convolution: not at all, the convolution reads the input.
//
// An activation in a pass of its own (activation_pass.h) finds the block of the output in cache.
//
// An addend is copied into the block of the output, where oneDNN's convolution, which reads and
// writes it, finds it in cache. (oneDNN 2.6 accepts an addend, but then uses a slower kernel: 1.4
// times the time on 56×56, 64 to 256 channels.)
//
// Measured on NASNet's and RandWire's 18 largest operators, one core with AVX-512, sources not in
// cache, against the best of oneDNN's own three primitives (eltwise, brdgmm_dw, brgconv_1x1): 12.8
// against 14.6 ms in sum; 168 channels 42×42 5×5: 0.71 against 0.85 ms; 42 channels 83×83 7×7: 0.47
// against 0.67 ms; never slower. Whole networks by CPU time of one core: NASNet 337 against 409 ms,
// RandWire 134 against 163 ms (bench/raw_onednn). Two variants were slower: padding and relu into a
// channel-blocked scratch before the depthwise kernel (gained half as much), and the kernel chunk
// by chunk over a block's whole plane instead of row by row (13.5 to 13.8 ms). A pointwise kernel
// of our own reached mostly 85 to 95 % of brgconv_1x1, which is why oneDNN keeps that half.
//
// Where block_division.h lets each thread compute blocks by itself, it has a primitive and scratch
// of its own; elsewhere a team divides the rows and chunks of each block evenly. If rows do not
// divide evenly, pixels do: of 21 rows of 21 pixels two threads have 220 and 221, and both compute
// the eleventh row of a depthwise convolution. Each value is computed by one thread in an order
// that does not depend on the division. Tests in tests/engine/cpu/: operators_test.cpp, and
// backend_test.cpp for the borders between blocks.
namespace hios::cpu {
namespace {

/// Neighbouring output pixels of all images, one after the other.
struct Pixels {
  std::int64_t first, count;
};

/// Output rows of one image.
struct Rows {
  std::int64_t image, first, count;
};

/// The fewest pixels that a thread has where pixels are divided: with fewer, products take longer.
constexpr std::int64_t kFewestPixels = 16;

/// How much longer than by pixels the longest share by rows is where pixels are divided.
constexpr double kUneven = 1.02;

class SeparableOperator final : public BoundOperator {
 public:
  SeparableOperator(const Binding& binding, const ConvolutionChain& chain);
  void run() override;

 private:
  /// Computes one block after another: a thread by itself, or a team of all.
  struct Worker {
    std::optional<ConvolutionPrimitive> pointwise = {};
    std::optional<ConvolutionPrimitive> lesser_pointwise = {};  // for blocks with fewer pixels
  };

  BlockDivision division(int threads);
  std::int64_t most_rows(const BlockDivision& by_pixels) const;
  void add_worker(const Binding& binding, const ConvolutionChain& chain);
  void reserve_scratch();
  void compute(std::size_t index, const Pixels& pixels);
  const float* middle_of(const Pixels& pixels, std::byte* scratch);
  const float* middle_by_depthwise(const Pixels& pixels, float* middle, float* sums);
  void fill_by_depthwise(const Rows& rows, float* middle, float* sums);
  void fill_by_combining(const Pixels& pixels, float* middle);
  void fill_pixels(std::int64_t image, std::size_t from, std::size_t pixels, float* to) const;
  RowsAt sum_rows(std::int64_t image, const ImageRows& rows, float* sums);
  Shape block_shape(std::int64_t channels, std::int64_t pixels) const {
    if (pixels % middle_.w != 0) return {1, channels, 1, pixels};
    return {1, channels, pixels / middle_.w, middle_.w};
  }

  int threads_ = 1;  // of each worker
  std::vector<const float*> terms_;
  const float* gate_;                    // null: none
  const float* addend_;                  // null: none
  Shape input_, middle_, output_shape_;  // whole tensors
  float* output_;
  float floor_;
  Extent stride_;             // from input pixels to those of the middle
  bool reads_input_ = false;  // the middle is the input
  std::optional<DepthwisePass> depthwise_;
  std::int64_t unit_ = 1;  // pixels that blocks consist of: rows, or single ones
  std::optional<BlockWorkers> blocks_;
  std::vector<Worker> workers_;
  Scratch& scratch_;
  std::size_t sums_at_ = 0, dnnl_at_ = 0, scratch_of_each_ = 0;  // bytes; `middle` comes first
};

SeparableOperator::SeparableOperator(const Binding& binding, const ConvolutionChain& chain)
    : gate_(chain.gate ? binding.inputs[*chain.gate].floats() : nullptr),
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
  if (chain.depthwise) depthwise_.emplace(binding, chain, input_, middle_);
  const BlockDivision& blocks = blocks_.emplace(division(binding.share.threads)).division();
  threads_ = blocks.threads;
  for (int i = 0; i < blocks.workers; ++i) add_worker(binding, chain);
  reserve_scratch();
}

/// Divides rows, or pixels where rows do not divide evenly.
BlockDivision SeparableOperator::division(int threads) {
  constexpr auto kElement = static_cast<std::int64_t>(sizeof(float));
  const std::int64_t channels =
      reads_input_ ? output_shape_.c : middle_.c;  // the channels that shall stay in cache
  const std::int64_t rows = middle_.n * middle_.h, pixels = rows * middle_.w;
  const std::int64_t pixel_bytes = kElement * channels;
  const std::int64_t weights_bytes = kElement * middle_.c * output_shape_.c;
  const BlockDivision by_rows =
      divide_rows({rows, pixel_bytes * middle_.w, weights_bytes}, threads);
  unit_ = middle_.w;
  if (threads == 1 || pixels < kFewestPixels * threads) return by_rows;
  const BlockDivision by_pixels = divide_rows({pixels, pixel_bytes, weights_bytes}, threads);
  const double longest = static_cast<double>(by_rows.longest_share() * middle_.w);
  const bool uneven =
      by_rows.workers == 1 || longest > kUneven * static_cast<double>(by_pixels.longest_share());
  if (by_pixels.workers == 1 || !uneven) return by_rows;
  if (depthwise_) {  // It computes whole rows, those at a border for both blocks.
    const bool alone = by_rows.workers > 1 && by_pixels.blocks == by_pixels.workers;
    if (!alone || most_rows(by_pixels) > by_rows.longest_share()) return by_rows;
  }
  unit_ = 1;
  return by_pixels;
}

/// Returns the most rows of which a block has pixels.
std::int64_t SeparableOperator::most_rows(const BlockDivision& by_pixels) const {
  std::int64_t most = 0;
  for (std::int64_t block = 0; block < by_pixels.blocks; ++block) {
    const std::int64_t end = quotient_up(by_pixels.first_row(block + 1), middle_.w);
    most = std::max(most, end - by_pixels.first_row(block) / middle_.w);
  }
  return most;
}

void SeparableOperator::add_worker(const Binding& binding, const ConvolutionChain& chain) {
  const dnnl::stream stream(binding.engine);
  const Binding own = binding.on(stream, threads_);
  const auto make = [&](std::int64_t units, const ConvolutionPrimitive* like) {
    const ConvolutionShape shape{block_shape(middle_.c, units * unit_),
                                 block_shape(output_shape_.c, units * unit_),
                                 {1, 1},
                                 chain.addend.has_value(),
                                 activation_of(binding, chain),
                                 middle_.n * middle_.h * middle_.w};
    return ConvolutionPrimitive(own, binding.layer(chain.convolution), shape, like);
  };
  Worker& worker = workers_.emplace_back();
  const BlockDivision& blocks = blocks_->division();
  worker.pointwise.emplace(make(blocks.most_rows(), nullptr));
  if (blocks.fewest_rows() != blocks.most_rows()) {
    worker.lesser_pointwise.emplace(make(blocks.fewest_rows(), &*worker.pointwise));
  }
}

void SeparableOperator::reserve_scratch() {
  const Bytes element = element_bytes(Precision::kFp32);
  const BlockDivision& blocks = blocks_->division();
  const std::int64_t rows = unit_ == 1 ? most_rows(blocks) : blocks.most_rows();
  if (!reads_input_) {
    const std::int64_t pixels = depthwise_ ? rows * middle_.w : blocks.most_rows() * unit_;
    sums_at_ = aligned_size(Shape{1, middle_.c, 1, pixels}.size_bytes(element));
  }
  dnnl_at_ = sums_at_;
  if (depthwise_ && terms_.size() > 1) {
    const std::int64_t read = depthwise_->most_read(std::min(rows, middle_.h));
    dnnl_at_ += aligned_size(Shape{1, input_.c, read, input_.w}.size_bytes(element));
  }
  std::size_t dnnl_bytes = workers_.front().pointwise->scratch_bytes();
  if (const auto& lesser = workers_.front().lesser_pointwise) {
    dnnl_bytes = std::max(dnnl_bytes, lesser->scratch_bytes());
  }
  scratch_of_each_ = aligned_size(dnnl_at_ + dnnl_bytes);
  scratch_.reserve(scratch_of_each_ * workers_.size());
}

void SeparableOperator::run() {
  blocks_->run([this](std::size_t worker, std::int64_t first, std::int64_t count) {
    compute(worker, {first * unit_, count * unit_});
  });
}

void SeparableOperator::compute(std::size_t index, const Pixels& pixels) {
  Worker& worker = workers_[index];
  std::byte* const scratch = scratch_.data() + index * scratch_of_each_;
  const float* const middle = middle_of(pixels, scratch);
  float* const output = output_ + pixels.first * output_shape_.c;
  const float* const addend =
      addend_ != nullptr ? addend_ + pixels.first * output_shape_.c : nullptr;
  const bool whole = pixels.count == blocks_->division().most_rows() * unit_;
  ConvolutionPrimitive& pointwise = whole ? *worker.pointwise : *worker.lesser_pointwise;
  pointwise.run(middle, addend, output, scratch + dnnl_at_);
}

/// Returns pixels of the middle, of all images one after the other.
const float* SeparableOperator::middle_of(const Pixels& pixels, std::byte* scratch) {
  if (reads_input_) return terms_.front() + pixels.first * middle_.c;
  auto* const middle = reinterpret_cast<float*>(scratch);
  if (depthwise_)
    return middle_by_depthwise(pixels, middle, reinterpret_cast<float*>(scratch + sums_at_));
  fill_by_combining(pixels, middle);
  return middle;
}

/// Computes the whole rows of which these are pixels, and returns their place in `middle`.
const float* SeparableOperator::middle_by_depthwise(const Pixels& pixels, float* middle,
                                                    float* sums) {
  const std::int64_t begin = pixels.first / middle_.w;
  const std::int64_t end = quotient_up(pixels.first + pixels.count, middle_.w);
  for (std::int64_t row = begin; row < end;) {
    const std::int64_t in_image = row % middle_.h;
    const Rows rows{row / middle_.h, in_image, std::min(middle_.h - in_image, end - row)};
    fill_by_depthwise(rows, middle + (row - begin) * middle_.w * middle_.c, sums);
    row += rows.count;
  }
  return middle + (pixels.first - begin * middle_.w) * middle_.c;
}

void SeparableOperator::fill_by_depthwise(const Rows& rows, float* middle, float* sums) {
  const ImageRows made{rows.first, rows.first + rows.count};
  if (terms_.size() > 1) {
    const RowsAt input = sum_rows(rows.image, depthwise_->reads(made), sums);
    depthwise_->run(threads_, input, made, kNoFloor, middle);
    return;
  }
  const float* const image = terms_.front() + rows.image * input_.h * input_.w * input_.c;
  depthwise_->run(threads_, {image}, made, floor_, middle);
}

/// Computes input rows of the sum of the terms, with the relu, in `sums`.
RowsAt SeparableOperator::sum_rows(std::int64_t image, const ImageRows& rows, float* sums) {
  const auto row_values = static_cast<std::size_t>(input_.w * input_.c);
  const auto offset = static_cast<std::size_t>(image * input_.h + rows.first) * row_values;
  // One row at a time, so that the first term's row is still in cache when the last term is added.
  parallel_shares(threads_, static_cast<std::size_t>(rows.end - rows.first),
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
                                         .floor = floor_});
                    }
                  });
  return {sums, rows.first};
}

void SeparableOperator::fill_by_combining(const Pixels& pixels, float* middle) {
  const std::int64_t width = middle_.w, height = middle_.h;
  parallel_shares(
      threads_, static_cast<std::size_t>(pixels.count), [&](std::size_t begin, std::size_t end) {
        for (auto at = static_cast<std::int64_t>(begin); at < static_cast<std::int64_t>(end);) {
          const std::int64_t row = (pixels.first + at) / width;
          const std::int64_t column = (pixels.first + at) % width;
          const std::int64_t count = std::min(width - column, static_cast<std::int64_t>(end) - at);
          const std::int64_t image = row / height;
          const std::int64_t source_row = image * input_.h + row % height * stride_.h;
          const std::int64_t from = source_row * input_.w + column * stride_.w;
          fill_pixels(image, static_cast<std::size_t>(from * input_.c),
                      static_cast<std::size_t>(count), middle + at * input_.c);
          at += count;
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
