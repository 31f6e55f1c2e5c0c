// Normalisation over any axes or groups of channels. Over a pixel's channels alone, as in
// transformers, it takes a kernel and one pass (kernels.h). Else two passes compute the statistics,
// in double (the variance from distances, not from squares, which would cancel); a third writes,
// pixel by pixel. Groups are no axis: each channel is summed separately, and each channel of a
// group then uses the group's total.
#include <cmath>
#include <vector>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/single/reductions.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

/// Strides of a pixel's operand by image, row and column, and whether its channels differ.
struct PixelOperand {
  std::int64_t n = 0, h = 0, w = 0;
  bool channels = false;
  std::int64_t at(std::int64_t image, std::int64_t row, std::int64_t column) const {
    return image * n + row * h + column * w;
  }
};

PixelOperand pixel_operand(const Shape& shape) {
  return {shape.n > 1 ? shape.h * shape.w * shape.c : 0, shape.h > 1 ? shape.w * shape.c : 0,
          shape.w > 1 ? shape.c : 0, shape.c > 1};
}

/// Computes output = (input − mean) · rate · scale + bias over `count` channels.
template <bool Statistics, bool Scale, bool Bias>
void normalize(const float* in, const float* mean, const float* rate, const float* scale,
               const float* bias, float* out, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) {
    out[c] =
        (in[c] - mean[Statistics ? c : 0]) * (rate[Statistics ? c : 0] * scale[Scale ? c : 0]) +
        bias[Bias ? c : 0];
  }
}
using Normalize = void (*)(const float*, const float*, const float*, const float*, const float*,
                           float*, std::int64_t);

Normalize normalize_for(bool statistics, bool scale, bool bias) {
  static constexpr Normalize kAll[] = {
      &normalize<false, false, false>, &normalize<false, false, true>,
      &normalize<false, true, false>,  &normalize<false, true, true>,
      &normalize<true, false, false>,  &normalize<true, false, true>,
      &normalize<true, true, false>,   &normalize<true, true, true>};
  return kAll[(statistics ? 4 : 0) + (scale ? 2 : 0) + (bias ? 1 : 0)];
}

class NormalizationOperator final : public BoundOperator {
 public:
  NormalizationOperator(const Binding& binding, const Layer& layer, const Normalization& kind)
      : shape_(binding.output_shape()),
        space_(shape_, kind.axes),
        fold_(kind.groups > 0 ? shape_.c / kind.groups : 1),
        epsilon_(kind.epsilon),
        input_(binding.inputs[InputIndex(0)].floats()),
        output_(binding.output),
        threads_(team_for(binding.share, shape_.elements())),
        scratch_(binding.scratch) {
    if (kind.scale || kind.bias) {
      parameters_ = binding.weights.for_own_loops(*binding.operation.model, layer, binding.source);
    }
    if (kind.scale) {
      scale_ = parameters_->weight_floats();
      scale_operand_ = pixel_operand(*kind.scale);
    }
    if (kind.bias) {
      bias_ = parameters_->bias_floats();
      bias_operand_ = pixel_operand(*kind.bias);
    }
    const Axes& axes = kind.axes;
    statistics_ = pixel_operand({axes.n ? 1 : shape_.n, axes.c ? 1 : shape_.c,
                                 axes.h ? 1 : shape_.h, axes.w ? 1 : shape_.w});
    normalize_ =
        normalize_for(statistics_.channels, scale_operand_.channels, bias_operand_.channels);
    const auto by_channel = [](const PixelOperand& operand) {
      return operand.n == 0 && operand.h == 0 && operand.w == 0;
    };
    by_pixel_ = axes.c && !axes.n && !axes.h && !axes.w && kind.groups == 0 &&
                by_channel(scale_operand_) && by_channel(bias_operand_);
    if (by_pixel_) return;
    const std::int64_t items = space_.items();
    scratch_.reserve(static_cast<std::size_t>(2 * items + partial_results(space_)) *
                         sizeof(double) +
                     static_cast<std::size_t>(2 * items) * sizeof(float));
  }

  void run() override {
    if (by_pixel_) {
      parallel_shares(threads_, static_cast<std::size_t>(shape_.n * shape_.h * shape_.w),
                      [&](std::size_t begin, std::size_t end) { normalize_pixels(begin, end); });
      return;
    }
    const std::int64_t items = space_.items();
    auto* const means = reinterpret_cast<double*>(scratch_.data());
    double* const rates = means + items;
    double* const partial = rates + items;
    auto* const float_means = reinterpret_cast<float*>(partial + partial_results(space_));
    float* const float_rates = float_means + items;
    const auto count = static_cast<double>(space_.reduced() * fold_);
    const auto to_mean = [&](double sum, std::int64_t item) {
      float_means[item] = static_cast<float>(sum / count);
      return sum / count;
    };
    const auto to_rate = [&](double sum, std::int64_t item) {
      const double rate = 1 / std::sqrt(sum / count + epsilon_);
      float_rates[item] = static_cast<float>(rate);
      return rate;
    };
    add_up(AddUp(), nullptr, partial, means, to_mean);
    add_up(AddSquaredDistances(), means, partial, rates, to_rate);
    parallel_shares(threads_, static_cast<std::size_t>(shape_.n * shape_.h * shape_.w),
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t pixel = begin; pixel < end; ++pixel) {
                        write_pixel(static_cast<std::int64_t>(pixel), float_means, float_rates);
                      }
                    });
  }

 private:
  void normalize_pixels(std::size_t begin, std::size_t end) const {
    const auto channels = static_cast<std::size_t>(shape_.c);
    kernels().normalize_channels({input_ + begin * channels, output_ + begin * channels,
                                  end - begin, channels, scale_, bias_, scale_operand_.channels,
                                  bias_operand_.channels, epsilon_});
  }

  /// Computes results[item] = finish(total of the item's group, item).
  template <class Op, class Finish>
  void add_up(const Op& op, const double* centers, double* partial, double* results,
              const Finish& finish) {
    if (fold_ == 1) {
      reduce_items(space_, threads_, input_, op, centers, partial, results, finish);
      return;
    }
    reduce_items(space_, threads_, input_, op, centers, partial, results,
                 [](double sum, std::int64_t) { return sum; });
    for (std::int64_t first = 0; first < space_.items(); first += fold_) {
      double total = 0;
      for (std::int64_t i = first; i < first + fold_; ++i) total += results[i];
      for (std::int64_t i = first; i < first + fold_; ++i) results[i] = finish(total, i);
    }
  }

  void write_pixel(std::int64_t pixel, const float* means, const float* rates) const {
    const std::int64_t w = pixel % shape_.w, row = pixel / shape_.w;
    const std::int64_t h = row % shape_.h, n = row / shape_.h;
    const std::int64_t item = statistics_.at(n, h, w);
    normalize_(input_ + pixel * shape_.c, means + item, rates + item,
               scale_ + scale_operand_.at(n, h, w), bias_ + bias_operand_.at(n, h, w),
               output_ + pixel * shape_.c, shape_.c);
  }

  static constexpr float kOne = 1, kZero = 0;

  Shape shape_;
  ReductionSpace space_;
  std::int64_t fold_;  // neighbouring items that share statistics: channels of a group
  double epsilon_;
  const float* input_;
  float* output_;
  int threads_;
  Scratch& scratch_;
  std::shared_ptr<const PackedWeights> parameters_;
  const float *scale_ = &kOne, *bias_ = &kZero;
  PixelOperand scale_operand_, bias_operand_, statistics_;  // statistics_: counts items
  Normalize normalize_ = nullptr;
  bool by_pixel_ = false;  ///< over a pixel's channels alone
};

/// Normalises across channels; `size` of them are few, so each sum is computed from scratch.
void normalize_responses(const LocalResponseNormalization& layer, const float* in, float* out,
                         std::int64_t channels) {
  const std::int64_t before = (layer.size - 1) / 2, after = layer.size - 1 - before;
  const double alpha = static_cast<double>(layer.alpha) / static_cast<double>(layer.size);
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::int64_t last = std::min(channels - 1, c + after);
    double sum = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, c - before); i <= last; ++i) {
      sum += static_cast<double>(in[i]) * in[i];
    }
    const auto base = static_cast<float>(layer.bias + alpha * sum);
    // The exponent of the papers, without the cost of a power.
    const float power = layer.beta == 0.75f ? std::sqrt(base) * std::sqrt(std::sqrt(base))
                                            : std::pow(base, layer.beta);
    out[c] = in[c] / power;
  }
}

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer& layer,
                                           const Normalization& kind) {
  return std::make_unique<NormalizationOperator>(binding, layer, kind);
}

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&,
                                           const LocalResponseNormalization& kind) {
  const Shape shape = binding.output_shape();
  return make_operator([=, threads = team_for(binding.share, shape.elements()),
                        input = binding.inputs[InputIndex(0)].floats(), output = binding.output] {
    parallel_shares(
        threads, static_cast<std::size_t>(shape.n * shape.h * shape.w),
        [&](std::size_t begin, std::size_t end) {
          for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            normalize_responses(kind, input + i * shape.c, output + i * shape.c, shape.c);
          }
        });
  });
}

}  // namespace hios::cpu
