// Pools over windows and over whole images (PoolForm, GlobalAverageForm), by our own kernels, which
// clip each window to the image and so support any padding and rounding. An average that counts its
// padding is their result, corrected at the border. Dilated windows have a plain loop.
#include <limits>
#include <utility>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/row_chunks.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {
namespace {

/// Returns the number of taps of a window beginning at `first` that lie within [low, high).
std::int64_t taps_within(std::int64_t first, std::int64_t kernel, std::int64_t low,
                         std::int64_t high) {
  return std::max<std::int64_t>(0, std::min(first + kernel, high) - std::max(first, low));
}

class PoolOperator final : public BoundOperator {
 public:
  PoolOperator(const Binding& binding, const PoolForm& form)
      : threads_(binding.share.threads),
        input_(binding.inputs[form.input].floats()),
        shape_(binding.output_shape()),
        output_(binding.output) {
    const Pool& pool = std::get<Pool>(binding.layer(form.pool).kind);
    count_padding_ = pool.kind == Pool::Kind::kAverage && pool.count_padding;
    padding_end_ = pool.padding.end;
    window_ = window_of(binding.inputs[form.input].shape, shape_, pool.kernel, pool.stride,
                        pool.padding.begin);
    rows_ = pool.kind == Pool::Kind::kMax ? kernels().max_pool(window_)
                                          : kernels().average_pool(window_);
  }

  void run() override {
    const auto height = static_cast<std::size_t>(shape_.h);
    const std::ptrdiff_t image_values = window_.in_height * window_.in_width * window_.channels;
    const std::ptrdiff_t row_values = shape_.w * shape_.c;
    const RowDivision division(static_cast<std::size_t>(shape_.n), height, chunks_of(shape_.c),
                               rows_together(rows_));
    division.run(threads_, [&](const RowChunks& group) {
      WindowTask task{};
      task.rows = input_ + static_cast<std::ptrdiff_t>(group.row / height) * image_values;
      task.row = static_cast<std::ptrdiff_t>(group.row % height);
      task.first_chunk = static_cast<std::ptrdiff_t>(group.first_chunk);
      task.last_chunk = static_cast<std::ptrdiff_t>(group.last_chunk);
      task.output = output_ + static_cast<std::ptrdiff_t>(group.row) * row_values;
      compute_rows(rows_, window_, task, group.rows);
      if (!count_padding_) return;
      for (std::size_t i = 0; i < group.rows; ++i, ++task.row, task.output += row_values) {
        spread_over_padding(task);
      }
    });
  }

 private:
  /// Turns averages of a row over the taps inside the image into averages over those inside the
  /// padded image.
  void spread_over_padding(const WindowTask& task) const {
    const std::int64_t top = task.row * window_.stride_height - window_.pad_height;
    const auto of_kernel = [](std::int64_t first, std::int64_t kernel, std::int64_t extent,
                              std::int64_t before, std::int64_t after) {
      return std::pair(taps_within(first, kernel, 0, extent),
                       taps_within(first, kernel, -before, extent + after));
    };
    const auto rows = of_kernel(top, window_.kernel_height, window_.in_height, window_.pad_height,
                                padding_end_.h);
    const std::int64_t first_channel = task.first_chunk * kernels().lanes;
    const std::int64_t last_channel = std::min(shape_.c, task.last_chunk * kernels().lanes);
    for (std::int64_t column = 0; column < shape_.w; ++column) {
      const std::int64_t left = column * window_.stride_width - window_.pad_width;
      const auto columns = of_kernel(left, window_.kernel_width, window_.in_width,
                                     window_.pad_width, padding_end_.w);
      const std::int64_t inside = rows.first * columns.first, all = rows.second * columns.second;
      if (inside == all) continue;
      const float share = static_cast<float>(inside) / static_cast<float>(all);
      float* const pixel = task.output + column * shape_.c;
      for (std::int64_t c = first_channel; c < last_channel; ++c) pixel[c] *= share;
    }
  }

  int threads_;
  const float* input_;
  Shape shape_;  // the output's
  bool count_padding_ = false;
  Extent padding_end_;
  RowWindow window_;
  WindowRows rows_{};
  float* output_;
};

/// A pool with dilation.
class DilatedPoolOperator final : public BoundOperator {
 public:
  DilatedPoolOperator(const Binding& binding, const PoolForm& form)
      : pool_(std::get<Pool>(binding.layer(form.pool).kind)),
        threads_(binding.share.threads),
        input_(binding.inputs[form.input].floats()),
        in_(binding.inputs[form.input].shape),
        out_(binding.output_shape()),
        output_(binding.output) {}

  void run() override {
    parallel_shares(threads_, static_cast<std::size_t>(out_.n * out_.h * out_.w),
                    [this](std::size_t begin, std::size_t end) {
                      for (std::size_t pixel = begin; pixel < end; ++pixel) {
                        run_pixel(static_cast<std::int64_t>(pixel));
                      }
                    });
  }

 private:
  void run_pixel(std::int64_t pixel) const {
    const std::int64_t left = pixel % out_.w * pool_.stride.w - pool_.padding.begin.w;
    const std::int64_t top = pixel / out_.w % out_.h * pool_.stride.h - pool_.padding.begin.h;
    const float* const image = input_ + pixel / (out_.w * out_.h) * (in_.h * in_.w * in_.c);
    float* const to = output_ + pixel * out_.c;
    const bool max = pool_.kind == Pool::Kind::kMax;
    std::fill_n(to, out_.c, max ? -std::numeric_limits<float>::infinity() : 0.0f);
    std::int64_t inside = 0, padded = 0;
    for (std::int64_t kh = 0; kh < pool_.kernel.h; ++kh) {
      for (std::int64_t kw = 0; kw < pool_.kernel.w; ++kw) {
        const std::int64_t h = top + kh * pool_.dilation.h, w = left + kw * pool_.dilation.w;
        if (h < in_.h + pool_.padding.end.h && w < in_.w + pool_.padding.end.w) ++padded;
        if (h < 0 || h >= in_.h || w < 0 || w >= in_.w) continue;
        ++inside;
        add_tap(max, image + (h * in_.w + w) * in_.c, to);
      }
    }
    if (max) return;
    const float scale = 1.0f / static_cast<float>(pool_.count_padding ? padded : inside);
    for (std::int64_t c = 0; c < out_.c; ++c) to[c] *= scale;
  }

  void add_tap(bool max, const float* from, float* to) const {
    if (max) {
      for (std::int64_t c = 0; c < out_.c; ++c) to[c] = to[c] > from[c] ? to[c] : from[c];
    } else {
      for (std::int64_t c = 0; c < out_.c; ++c) to[c] += from[c];
    }
  }

  Pool pool_;
  int threads_;
  const float* input_;
  Shape in_, out_;
  float* output_;
};

class GlobalAverageOperator final : public BoundOperator {
 public:
  GlobalAverageOperator(const Binding& binding, const GlobalAverageForm& form)
      : threads_(binding.share.threads),
        input_(binding.inputs[form.input].floats()),
        shape_(binding.inputs[form.input].shape),
        output_(binding.output) {}

  void run() override {
    const auto channels = static_cast<std::size_t>(shape_.c);
    const auto pixels = static_cast<std::size_t>(shape_.h * shape_.w);
    const auto lanes = static_cast<std::size_t>(kernels().lanes);
    for (std::int64_t image = 0; image < shape_.n; ++image) {
      parallel_shares(threads_, chunks_of(shape_.c), [&](std::size_t begin, std::size_t end) {
        kernels().channel_means(
            {.input = input_ + static_cast<std::size_t>(image) * pixels * channels,
             .pixels = pixels,
             .channels = channels,
             .first_channel = begin * lanes,
             .last_channel = std::min(end * lanes, channels),
             .scale = 1.0f / static_cast<float>(pixels),
             .output = output_ + static_cast<std::size_t>(image) * channels});
      });
    }
  }

 private:
  int threads_;
  const float* input_;
  Shape shape_;
  float* output_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const PoolForm& form) {
  if (std::get<Pool>(binding.layer(form.pool).kind).dilation != Extent{}) {
    return std::make_unique<DilatedPoolOperator>(binding, form);
  }
  return std::make_unique<PoolOperator>(binding, form);
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form) {
  return std::make_unique<GlobalAverageOperator>(binding, form);
}

}  // namespace hios::cpu
