// Part of engine/cpu/operators.h: pools over windows and over whole images, by our own kernels.
#include <utility>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/row_chunks.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {
namespace {

class PoolOperator final : public BoundOperator {
 public:
  PoolOperator(const Binding& binding, const PoolForm& form)
      : threads_(binding.share.threads),
        input_(binding.inputs[form.input].floats()),
        shape_(binding.output_shape()),
        output_(binding.output) {
    const Pool& pool = std::get<Pool>(binding.layer(form.pool).kind);
    window_ = window_of(binding.inputs[form.input].shape, shape_, pool.kernel, pool.stride,
                        pool.padding.begin);
    row_ = pool.kind == Pool::Kind::kMax ? kernels().max_pool(window_)
                                         : kernels().average_pool(window_);
  }

  void run() override {
    const auto height = static_cast<std::size_t>(shape_.h);
    const std::ptrdiff_t image_values = window_.in_height * window_.in_width * window_.channels;
    parallel_row_chunks(
        threads_, static_cast<std::size_t>(shape_.n) * height, chunks_of(shape_.c),
        [&](std::size_t row, std::size_t first_chunk, std::size_t last_chunk) {
          WindowTask task{};
          task.rows = input_ + static_cast<std::ptrdiff_t>(row / height) * image_values;
          task.row = static_cast<std::ptrdiff_t>(row % height);
          task.first_chunk = static_cast<std::ptrdiff_t>(first_chunk);
          task.last_chunk = static_cast<std::ptrdiff_t>(last_chunk);
          task.output = output_ + static_cast<std::ptrdiff_t>(row) * shape_.w * shape_.c;
          row_(window_, task);
        });
  }

 private:
  int threads_;
  const float* input_;
  Shape shape_;  // of the output
  RowWindow window_;
  WindowRow row_ = nullptr;
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
  return std::make_unique<PoolOperator>(binding, form);
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form) {
  return std::make_unique<GlobalAverageOperator>(binding, form);
}

}  // namespace hios::cpu
