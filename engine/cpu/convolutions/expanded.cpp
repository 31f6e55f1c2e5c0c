#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/backend/arena.h"
#include "engine/cpu/bind_convolutions.h"
#include "engine/cpu/convolutions/block_division.h"
#include "engine/cpu/convolutions/depthwise_pass.h"

// Pointwise, depthwise and pointwise convolution, without the wide tensor between the first two:
// in MobileNetV2's second block it has 96 channels of 112×112, twelve times the values of what the
// operator writes, and a pass to memory and back takes longer than the first convolution.
//
// The output is made in blocks of rows of one image. For each, oneDNN's 1×1 convolution makes the
// expanded rows that the block reads and no block before it has made; those that it shares with the
// block before move to the front of the scratch. Then the block goes on as in separable.cpp. Data
// of a block stay in a second-level cache.
//
// Which rows a primitive computes depends on the block alone, not on the worker: a worker's first
// block makes the rows that the block before has, by a primitive for those rows. So all primitives
// are known when the operator is bound.
//
// Tests in tests/engine/cpu/: operators_test.cpp, and backend_test.cpp for the borders of blocks.
namespace hios::cpu {
namespace {

class ExpandedOperator final : public BoundOperator {
 public:
  ExpandedOperator(const Binding& binding, const ExpandedForm& form);
  void run() override;

 private:
  /// A block of output rows, and the expanded rows that it reads.
  struct Block {
    std::int64_t image;
    ImageRows rows, read;
    std::int64_t fresh;   ///< rows from here on are read by no block before it
    std::int64_t shared;  ///< the row with which the block before begins
  };

  /// The 1×1 convolutions by the rows that they compute. All have the method of the first one
  /// that was made, and mostly its weights.
  using Primitives = std::map<std::int64_t, ConvolutionPrimitive>;

  /// Computes one block after another: a thread by itself, or a team of all.
  struct Worker {
    Primitives expansions = {}, projections = {};
    std::optional<std::int64_t> last = {};  ///< the block whose expanded rows are in scratch
  };

  void add_worker(const Binding& binding, const ExpandedForm& form);
  void reserve_scratch();
  Block block_at(std::int64_t index) const;
  void compute(std::size_t worker, std::int64_t index);
  const float* expand(std::size_t worker, std::int64_t index, const Block& block);

  int threads_ = 1;  // of each worker
  const float* input_;
  const float* addend_;  // null: none
  float* output_;
  Shape input_shape_, expanded_, middle_, output_shape_;  // whole tensors
  DepthwisePass depthwise_;
  std::optional<BlockWorkers> blocks_;
  std::int64_t blocks_of_image_ = 1;
  std::vector<Worker> workers_;
  Scratch& scratch_;
  std::size_t middle_at_ = 0, dnnl_at_ = 0, scratch_of_each_ = 0;  // bytes
};

const Shape& output_of(const Binding& binding, LayerId id) {
  return binding.operation.model->tensor(binding.layer(id).output).shape;
}

/// Returns the shape of some rows of a tensor's images.
Shape rows_of(const Shape& shape, std::int64_t rows) { return {1, shape.c, rows, shape.w}; }

std::int64_t row_values(const Shape& shape) { return shape.w * shape.c; }

std::int64_t row_bytes(const Shape& shape) {
  return static_cast<std::int64_t>(sizeof(float)) * row_values(shape);
}

ExpandedOperator::ExpandedOperator(const Binding& binding, const ExpandedForm& form)
    : input_(binding.inputs[form.input].floats()),
      addend_(form.chain.addend ? binding.inputs[*form.chain.addend].floats() : nullptr),
      output_(binding.output),
      input_shape_(binding.inputs[form.input].shape),
      expanded_(output_of(binding, form.expansion)),
      middle_(output_of(binding, *form.chain.depthwise)),
      output_shape_(binding.output_shape()),
      depthwise_(binding, form.chain, expanded_, middle_),
      scratch_(binding.scratch) {
  const std::int64_t stride = std::get<Conv>(binding.layer(*form.chain.depthwise).kind).stride.h;
  const std::int64_t weights = expanded_.c * (input_shape_.c + output_shape_.c);
  const BlockDivision division =
      divide_images({middle_.n, middle_.h, stride * row_bytes(expanded_) + row_bytes(middle_),
                     weights * static_cast<std::int64_t>(sizeof(float))},
                    binding.share.threads);
  blocks_.emplace(division);
  blocks_of_image_ = division.blocks / middle_.n;
  threads_ = division.threads;
  for (int i = 0; i < division.workers; ++i) add_worker(binding, form);
  reserve_scratch();
}

void ExpandedOperator::add_worker(const Binding& binding, const ExpandedForm& form) {
  const dnnl::stream stream(binding.engine);
  const Binding own = binding.on(stream, threads_);
  const auto add = [&](Primitives& primitives, LayerId layer, std::int64_t rows, const Shape& from,
                       const Shape& to, bool add_output, const LayerKind* activation) {
    if (rows == 0 || primitives.contains(rows)) return;
    const ConvolutionPrimitive* const like =
        primitives.empty() ? nullptr : &primitives.begin()->second;
    const ConvolutionShape shape{rows_of(from, rows), rows_of(to, rows), {1, 1},
                                 add_output,          activation,        to.n * to.h * to.w};
    primitives.try_emplace(rows, own, binding.layer(layer), shape, like);
  };
  const LayerKind* const between =
      form.activation ? &binding.layer(*form.activation).kind : nullptr;
  const LayerKind* const after = activation_of(binding, form.chain);
  Worker& worker = workers_.emplace_back();
  for (std::int64_t index = 0; index < blocks_of_image_; ++index) {
    const Block block = block_at(index);
    const auto expansion = [&](std::int64_t rows) {
      add(worker.expansions, form.expansion, rows, input_shape_, expanded_, false, between);
    };
    expansion(block.read.end - block.fresh);
    expansion(block.fresh - block.read.first);
    add(worker.projections, form.chain.convolution, block.rows.end - block.rows.first, middle_,
        output_shape_, addend_ != nullptr, after);
  }
}

void ExpandedOperator::reserve_scratch() {
  const std::int64_t rows = blocks_->division().most_rows();
  const auto bytes = [](const Shape& shape) {
    return aligned_size(shape.size_bytes(element_bytes(Precision::kFp32)));
  };
  middle_at_ = bytes(rows_of(expanded_, depthwise_.most_read(rows)));
  dnnl_at_ = middle_at_ + bytes(rows_of(middle_, rows));
  std::size_t dnnl_bytes = 0;
  for (const Primitives* primitives :
       {&workers_.front().expansions, &workers_.front().projections}) {
    for (const auto& [count, primitive] : *primitives) {
      dnnl_bytes = std::max(dnnl_bytes, primitive.scratch_bytes());
    }
  }
  scratch_of_each_ = aligned_size(dnnl_at_ + dnnl_bytes);
  scratch_.reserve(scratch_of_each_ * workers_.size());
}

ExpandedOperator::Block ExpandedOperator::block_at(std::int64_t index) const {
  const std::int64_t rows = blocks_->division().most_rows();
  const std::int64_t first = index % blocks_of_image_ * rows;
  Block block{index / blocks_of_image_, {first, std::min(first + rows, middle_.h)}, {}, 0, 0};
  block.read = depthwise_.reads(block.rows);
  block.fresh = block.shared = block.read.first;
  if (first > 0) {
    const ImageRows before = depthwise_.reads({first - rows, first});
    block.fresh = std::clamp(before.end, block.read.first, block.read.end);
    block.shared = before.first;
  }
  return block;
}

void ExpandedOperator::run() {
  for (Worker& worker : workers_) worker.last.reset();
  const std::int64_t rows = blocks_->division().most_rows();
  blocks_->run(
      [&](std::size_t worker, std::int64_t first, std::int64_t) { compute(worker, first / rows); });
}

void ExpandedOperator::compute(std::size_t worker, std::int64_t index) {
  const Block block = block_at(index);
  const float* const expanded = expand(worker, index, block);
  std::byte* const scratch = scratch_.data() + worker * scratch_of_each_;
  auto* const middle = reinterpret_cast<float*>(scratch + middle_at_);
  depthwise_.run(threads_, {expanded, block.read.first}, block.rows, kNoFloor, middle);
  const std::int64_t count = block.rows.end - block.rows.first;
  const std::int64_t at =
      (block.image * output_shape_.h + block.rows.first) * row_values(output_shape_);
  const float* const addend = addend_ != nullptr ? addend_ + at : nullptr;
  workers_[worker].projections.at(count).run(middle, addend, output_ + at, scratch + dnnl_at_);
}

/// Returns the expanded rows that a block reads.
const float* ExpandedOperator::expand(std::size_t worker, std::int64_t index, const Block& block) {
  std::byte* const scratch = scratch_.data() + worker * scratch_of_each_;
  auto* const expanded = reinterpret_cast<float*>(scratch);
  Worker& own = workers_[worker];
  const std::int64_t values = row_values(expanded_);
  const auto make = [&](std::int64_t first, std::int64_t end) {
    if (first == end) return;
    const float* const from =
        input_ + (block.image * input_shape_.h + first) * row_values(input_shape_);
    own.expansions.at(end - first)
        .run(from, nullptr, expanded + (first - block.read.first) * values, scratch + dnnl_at_);
  };
  if (own.last && *own.last == index - 1) {
    const auto kept = static_cast<std::size_t>((block.fresh - block.read.first) * values);
    std::memmove(expanded, expanded + (block.read.first - block.shared) * values,
                 kept * sizeof(float));
  } else {
    make(block.read.first, block.fresh);
  }
  make(block.fresh, block.read.end);
  own.last = index;
  return expanded;
}

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ExpandedForm& form) {
  return std::make_unique<ExpandedOperator>(binding, form);
}

}  // namespace hios::cpu
