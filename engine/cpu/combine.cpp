// Sums, relus, slices of channels and concats of these (CombineForm). Each term is read once and
// each output written once, in its channel range of the result, so a concat of sums needs no sum of
// its own in memory.
#include <limits>
#include <utility>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/parallel.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {
namespace {

/// Pixels are computed in runs of about this many output values. All channel ranges of a run come
/// before the next run, so lines that two ranges share are still in cache.
constexpr std::size_t kRunValues = 8 * 1024;

class CombineOperator final : public BoundOperator {
 public:
  CombineOperator(const Binding& binding, const CombineForm& form)
      : threads_(binding.share.threads),
        output_(binding.output),
        floor_(form.relu ? 0.0f : -std::numeric_limits<float>::infinity()) {
    const Shape& shape = binding.output_shape();
    pixels_ = static_cast<std::size_t>(shape.n * shape.h * shape.w);
    channels_ = static_cast<std::size_t>(shape.c);
    run_pixels_ = std::max<std::size_t>(1, kRunValues / channels_);
    std::size_t first_channel = 0;
    for (const std::vector<Source>& terms : binding.inputs[form]) {
      Range& range = ranges_.emplace_back();
      for (const Source& term : terms) range.terms.push_back(term.floats() + term.first_channel);
      range.stride = static_cast<std::size_t>(terms.front().pixel_stride());
      range.first_channel = first_channel;
      range.channels = static_cast<std::size_t>(terms.front().shape.c);
      first_channel += range.channels;
    }
  }

  void run() override {
    parallel_shares(threads_, pixels_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += run_pixels_) {
        const std::size_t pixels = std::min(run_pixels_, end - first);
        for (const Range& range : ranges_) {
          kernels().combine({.terms = range.terms.data(),
                             .term_count = range.terms.size(),
                             .term_offset = first * range.stride,
                             .term_stride = range.stride,
                             .output = output_ + first * channels_ + range.first_channel,
                             .output_stride = channels_,
                             .pixels = pixels,
                             .channels = range.channels,
                             .floor = floor_});
        }
      }
    });
  }

 private:
  struct Range {
    std::vector<const float*> terms;
    std::size_t first_channel = 0, channels = 0;
    std::size_t stride = 0;  ///< from one pixel of the terms to the next
  };

  int threads_;
  float* output_;
  float floor_;
  std::size_t pixels_ = 0, channels_ = 0, run_pixels_ = 0;
  std::vector<Range> ranges_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const CombineForm& form) {
  return std::make_unique<CombineOperator>(binding, form);
}

}  // namespace hios::cpu
