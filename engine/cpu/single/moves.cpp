// Layers that move values without changing them: Move, and Concat of images, rows or columns (of
// channels: engine/cpu/combine.cpp).
//
// A Move's dimensions are merged if one continues the next. The innermost one is then a run of
// neighbours (a memcpy), one repeated value, or a stride. With a stride, another dimension's values
// are neighbours, as in a transposed matrix. That dimension is taken in blocks of a cache line, so
// that each line is used as a whole while it is in cache.
#include <cstring>
#include <vector>

#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

void copy_floats(const float* from, float* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

void move_run(const float* from, std::int64_t stride, float* to, std::int64_t count) {
  if (stride == 1) return copy_floats(from, to, count);
  if (stride == 0) return static_cast<void>(std::fill_n(to, count, *from));
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

struct MovedDimension {
  std::int64_t size, from, to;  ///< strides in the input and in the output
};

class MoveOperator final : public BoundOperator {
 public:
  MoveOperator(const Binding& binding, const Move& move)
      : input_(binding.inputs[InputIndex(0)].floats() + move.offset),
        output_(binding.output),
        threads_(team_for(binding.share, move.output.elements())) {
    std::int64_t to = 1;
    for (auto it = move.dimensions.rbegin(); it != move.dimensions.rend(); ++it) {
      if (it->size == 1) continue;
      MovedDimension* const inside = dimensions_.empty() ? nullptr : &dimensions_.back();
      if (inside != nullptr && it->stride == inside->from * inside->size) {
        inside->size *= it->size;
      } else {
        dimensions_.push_back({it->size, it->stride, to});
      }
      to *= it->size;
    }
    if (dimensions_.empty()) dimensions_.push_back({1, 1, 1});
    inner_ = dimensions_.front();
    dimensions_.erase(dimensions_.begin());
    if (inner_.from == 0 || inner_.from == 1) return;
    const auto neighbours =
        std::ranges::find_if(dimensions_, [](const MovedDimension& d) { return d.from == 1; });
    if (neighbours == dimensions_.end()) return;
    block_ = *neighbours;
    dimensions_.erase(neighbours);
  }

  void run() override {
    const std::int64_t blocks = (block_.size + kBlock - 1) / kBlock;
    std::int64_t items = blocks;
    for (const MovedDimension& dimension : dimensions_) items *= dimension.size;
    // A single run is divided as well: a reshape is one copy of everything.
    const std::int64_t cuts = items == 1 ? (inner_.size + kCut - 1) / kCut : 1;
    parallel_shares(threads_, static_cast<std::size_t>(items * cuts),
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; ++i) {
                        const auto item = static_cast<std::int64_t>(i);
                        run_item(item / cuts, blocks, item % cuts, cuts);
                      }
                    });
  }

 private:
  static constexpr std::int64_t kBlock = 16;  ///< floats in a cache line
  static constexpr std::int64_t kCut = 16 * 1024;

  void run_item(std::int64_t item, std::int64_t blocks, std::int64_t cut, std::int64_t cuts) const {
    const std::int64_t block = item % blocks;
    std::int64_t outer = item / blocks;
    const float* from = input_ + block * kBlock * block_.from;
    float* to = output_ + block * kBlock * block_.to;
    for (const MovedDimension& dimension : dimensions_) {  // innermost first
      const std::int64_t index = outer % dimension.size;
      outer /= dimension.size;
      from += index * dimension.from;
      to += index * dimension.to;
    }
    if (block_.size > 1) return run_block(from, to, std::min(kBlock, block_.size - block * kBlock));
    const std::int64_t first = cuts > 1 ? cut * kCut : 0;
    const std::int64_t count = cuts > 1 ? std::min(kCut, inner_.size - first) : inner_.size;
    move_run(from + first * inner_.from, inner_.from, to + first, count);
  }

  /// Copies `width` neighbours of the input at each step of the innermost dimension.
  void run_block(const float* from, float* to, std::int64_t width) const {
    for (std::int64_t first = 0; first < inner_.size; first += kBlock) {
      const std::int64_t count = std::min(kBlock, inner_.size - first);
      for (std::int64_t i = 0; i < width; ++i) {
        move_run(from + first * inner_.from + i, inner_.from, to + first + i * block_.to, count);
      }
    }
  }

  const float* input_;
  float* output_;
  int threads_;
  MovedDimension inner_{}, block_{1, 0, 0};
  std::vector<MovedDimension> dimensions_;  // all but the innermost, innermost first
};

/// Copies one run of each input in turn, repeatedly.
class ConcatOperator final : public BoundOperator {
 public:
  ConcatOperator(const Binding& binding, const Layer& layer, const Concat& concat)
      : output_(binding.output), values_(binding.output_shape().elements()) {
    threads_ = team_for(binding.share, values_);
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const Source source = binding.inputs[InputIndex(i)];
      const Shape& s = source.shape;
      // Axes inside the concatenated one are contiguous.
      const std::int64_t run = concat.axis == Axis::kN   ? s.elements()
                               : concat.axis == Axis::kH ? s.h * s.w * s.c
                               : concat.axis == Axis::kW ? s.w * s.c
                                                         : s.c;
      parts_.push_back({source.floats(), run, row_});
      row_ += run;
    }
  }

  void run() override {
    parallel_shares(threads_, static_cast<std::size_t>(values_),
                    [this](std::size_t begin, std::size_t end) {
                      copy_values(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
                    });
  }

 private:
  struct Part {
    const float* data;
    std::int64_t run, at;  ///< values of a row of the output, and their offset in it
  };

  void copy_values(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin / row_; row * row_ < end; ++row) {
      for (const Part& part : parts_) {
        const std::int64_t start = row * row_ + part.at;
        const std::int64_t first = std::max(begin, start), last = std::min(end, start + part.run);
        if (first >= last) continue;
        copy_floats(part.data + row * part.run + (first - start), output_ + first, last - first);
      }
    }
  }

  float* output_;
  std::int64_t values_, row_ = 0;
  int threads_ = 1;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&, const Move& move) {
  return std::make_unique<MoveOperator>(binding, move);
}

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer& layer,
                                           const Concat& concat) {
  return std::make_unique<ConcatOperator>(binding, layer, concat);
}

}  // namespace hios::cpu
