// Pad. For each axis, a table made once gives the input position of each output position. The
// input's own interval is copied as a whole, over columns and channels together if channels are not
// padded.
#include <cstring>
#include <vector>

#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

constexpr std::int64_t kOutside = -1;  ///< the padding's constant

/// Returns the input position for each output position.
std::vector<std::int64_t> padded_axis(Pad::Mode mode, std::int64_t extent, std::int64_t begin,
                                      std::int64_t end) {
  std::vector<std::int64_t> from;
  for (std::int64_t i = -begin; i < extent + end; ++i) {
    if (i >= 0 && i < extent) {
      from.push_back(i);
    } else if (mode == Pad::Mode::kConstant) {
      from.push_back(kOutside);
    } else if (mode == Pad::Mode::kEdge) {
      from.push_back(i < 0 ? 0 : extent - 1);
    } else if (mode == Pad::Mode::kReflect) {
      from.push_back(i < 0 ? -i : 2 * (extent - 1) - i);
    } else {
      from.push_back((i % extent + extent) % extent);
    }
  }
  return from;
}

class PadOperator final : public BoundOperator {
 public:
  PadOperator(const Binding& binding, const Pad& pad)
      : in_(binding.inputs[InputIndex(0)].shape),
        out_(binding.output_shape()),
        input_(binding.inputs[InputIndex(0)].floats()),
        output_(binding.output),
        value_(pad.value),
        threads_(team_for(binding.share, out_.elements())),
        begin_(pad.begin),
        n_(padded_axis(pad.mode, in_.n, pad.begin.n, pad.end.n)),
        h_(padded_axis(pad.mode, in_.h, pad.begin.h, pad.end.h)),
        w_(padded_axis(pad.mode, in_.w, pad.begin.w, pad.end.w)),
        c_(padded_axis(pad.mode, in_.c, pad.begin.c, pad.end.c)) {}

  void run() override {
    parallel_shares(threads_, static_cast<std::size_t>(out_.n * out_.h),
                    [this](std::size_t begin, std::size_t end) {
                      for (std::size_t row = begin; row < end; ++row) {
                        run_row(static_cast<std::int64_t>(row));
                      }
                    });
  }

 private:
  void run_row(std::int64_t row) const {
    const std::int64_t image = n_[static_cast<std::size_t>(row / out_.h)];
    const std::int64_t line = h_[static_cast<std::size_t>(row % out_.h)];
    float* const to = output_ + row * out_.w * out_.c;
    if (image == kOutside || line == kOutside) {
      std::fill_n(to, out_.w * out_.c, value_);
      return;
    }
    const float* const from = input_ + (image * in_.h + line) * in_.w * in_.c;
    const bool whole = in_.c == out_.c;
    for (std::int64_t w = 0; w < out_.w; ++w) {
      if (whole && w == begin_.w) {
        std::memcpy(to + w * out_.c, from, static_cast<std::size_t>(in_.w * in_.c) * sizeof(float));
        w += in_.w - 1;
        continue;
      }
      run_pixel(from, w_[static_cast<std::size_t>(w)], to + w * out_.c);
    }
  }

  void run_pixel(const float* line, std::int64_t column, float* to) const {
    if (column == kOutside) {
      std::fill_n(to, out_.c, value_);
      return;
    }
    const float* const from = line + column * in_.c;
    const auto at = [&](std::int64_t c) {
      const std::int64_t source = c_[static_cast<std::size_t>(c)];
      return source == kOutside ? value_ : from[source];
    };
    for (std::int64_t c = 0; c < begin_.c; ++c) to[c] = at(c);
    std::copy_n(from, in_.c, to + begin_.c);
    for (std::int64_t c = begin_.c + in_.c; c < out_.c; ++c) to[c] = at(c);
  }

  Shape in_, out_;
  const float* input_;
  float* output_;
  float value_;
  int threads_;
  Shape begin_;
  std::vector<std::int64_t> n_, h_, w_, c_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&, const Pad& pad) {
  return std::make_unique<PadOperator>(binding, pad);
}

}  // namespace hios::cpu
