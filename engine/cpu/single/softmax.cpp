// Softmax and LogSoftmax over any axes, a block of items at a time (reduction_space.h), from the
// maximum to the sum to the quotients while the block is in cache. Softmax over a pixel's channels
// alone, as in attention, is a kernel (kernels.h).
#include <array>
#include <cmath>
#include <limits>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/single/reduction_space.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

class SoftmaxOperator final : public BoundOperator {
 public:
  SoftmaxOperator(const Binding& binding, const Softmax& softmax)
      : log_(softmax.log),
        shape_(binding.output_shape()),
        space_(shape_, softmax.axes),
        input_(binding.inputs[InputIndex(0)].floats()),
        output_(binding.output),
        threads_(team_for(binding.share, shape_.elements())) {
    const Axes& axes = softmax.axes;
    by_pixel_ = axes.c && !axes.n && !axes.h && !axes.w && !log_;
  }

  void run() override {
    if (by_pixel_) {
      parallel_shares(threads_, static_cast<std::size_t>(shape_.n * shape_.h * shape_.w),
                      [this](std::size_t begin, std::size_t end) { run_pixels(begin, end); });
      return;
    }
    parallel_shares(threads_, static_cast<std::size_t>(space_.blocks()),
                    [this](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; ++i) {
                        run_block(space_.block(static_cast<std::int64_t>(i)));
                      }
                    });
  }

 private:
  using Values = std::array<double, kBlockItems>;

  void run_pixels(std::size_t begin, std::size_t end) const {
    const auto channels = static_cast<std::size_t>(shape_.c);
    kernels().softmax_channels(
        {input_ + begin * channels, output_ + begin * channels, end - begin, channels});
  }

  void run_block(const ReductionSpace::Block& block) const {
    Values most{}, sums{};
    find_greatest(block, most);
    write_exponentials(block, most);
    constexpr Values kZeros{};
    for (std::int64_t part = 0; part < space_.parts(); ++part) {
      Values of_part;
      reduce_part(space_, output_, block, part, AddUp(), kZeros.data(), of_part.data());
      for (std::int64_t j = 0; j < block.items; ++j) sums[j] += of_part[j];
    }
    if (log_) {
      write_logarithms(block, most, sums);
    } else {
      divide(block, sums);
    }
  }

  void find_greatest(const ReductionSpace::Block& block, Values& most) const {
    if (block.items == 1 && space_.run_stride() == 1) {
      most[0] = greatest_of_neighbours(block);
      return;
    }
    constexpr Values kZeros{};
    for (std::int64_t part = 0; part < space_.parts(); ++part) {
      Values of_part;
      reduce_part(space_, input_, block, part, Greatest(), kZeros.data(), of_part.data());
      for (std::int64_t j = 0; j < block.items; ++j) {
        most[j] = part == 0 ? of_part[j] : Greatest::join(most[j], of_part[j]);
      }
    }
  }

  /// Returns the maximum, in floats, which is exact. It may miss NaN, which the sum then finds.
  float greatest_of_neighbours(const ReductionSpace::Block& block) const {
    std::array<float, kBlockItems> lanes;
    lanes.fill(-std::numeric_limits<float>::infinity());
    space_.for_runs(0, space_.reduced(), [&](std::int64_t offset, std::int64_t count) {
      const float* const run = input_ + block.offset + offset;
      std::int64_t i = 0;
      for (; i + kBlockItems <= count; i += kBlockItems) {
        for (std::int64_t j = 0; j < kBlockItems; ++j) {
          lanes[j] = run[i + j] > lanes[j] ? run[i + j] : lanes[j];
        }
      }
      for (; i < count; ++i) lanes[0] = std::max(lanes[0], run[i]);
    });
    return *std::ranges::max_element(lanes);
  }

  /// Calls visit(input, output, count) for runs of the block's values: one of each of its items,
  /// or, for a single item, neighbours.
  template <class Visit>
  void for_runs(const ReductionSpace::Block& block, Visit&& visit) const {
    const bool single = block.items == 1 && space_.run_stride() == 1;
    space_.for_runs(0, space_.reduced(), [&](std::int64_t offset, std::int64_t count) {
      const std::int64_t at = block.offset + offset;
      if (single) return visit(input_ + at, output_ + at, count);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = at + i * space_.run_stride();
        visit(input_ + row, output_ + row, block.items);
      }
    });
  }

  /// Writes exp(value − maximum).
  void write_exponentials(const ReductionSpace::Block& block, const Values& most) const {
    std::array<float, kBlockItems> shift;
    for (std::int64_t j = 0; j < block.items; ++j) shift[j] = static_cast<float>(most[j]);
    const bool single = block.items == 1;
    for_runs(block, [&](const float* in, float* out, std::int64_t count) {
      const auto values = static_cast<std::size_t>(count);
      kernels().binary.sub({in, shift.data(), true, !single, out, values});
      kernels().unary.exp({out, out, values, 0, 0});
    });
  }

  void divide(const ReductionSpace::Block& block, const Values& sums) const {
    std::array<float, kBlockItems> scale;
    for (std::int64_t j = 0; j < block.items; ++j) scale[j] = static_cast<float>(1 / sums[j]);
    const bool single = block.items == 1;
    for_runs(block, [&](const float*, float* out, std::int64_t count) {
      kernels().binary.mul(
          {out, scale.data(), true, !single, out, static_cast<std::size_t>(count)});
    });
  }

  /// Writes value − maximum − log(sum), from the input: the logarithm of a written quotient would
  /// have lost the digits of small values.
  void write_logarithms(const ReductionSpace::Block& block, const Values& most,
                        const Values& sums) const {
    const bool single = block.items == 1;
    Values logarithms{};
    for (std::int64_t j = 0; j < block.items; ++j) logarithms[j] = std::log(sums[j]);
    for_runs(block, [&](const float* in, float* out, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t j = single ? 0 : i;
        out[i] = static_cast<float>(in[i] - most[j] - logarithms[j]);
      }
    });
  }

  bool log_;
  Shape shape_;
  ReductionSpace space_;
  const float* input_;
  float* output_;
  int threads_;
  bool by_pixel_ = false;  ///< over a pixel's channels alone
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&,
                                           const Softmax& softmax) {
  return std::make_unique<SoftmaxOperator>(binding, softmax);
}

}  // namespace hios::cpu
