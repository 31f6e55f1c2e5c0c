#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "engine/cpu/convolutions/convolution.h"
#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {

/// The bound below of a depthwise convolution's inputs where no relu comes before it: none.
inline constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

/// Rows [first, end) of an image.
struct ImageRows {
  std::int64_t first = 0, end = 0;
};

/// Rows of an image in memory: `values` begins with row `first`.
struct RowsAt {
  const float* values = nullptr;
  std::int64_t first = 0;
};

/// A chain's depthwise convolution and the activation after it, some rows at a time, by our window
/// kernel (engine/cpu/kernels/windows_body.h).
class DepthwisePass {
 public:
  /// `input` and `output` are the convolution's. REQUIRES: the chain has a depthwise convolution.
  DepthwisePass(const Binding& binding, const ConvolutionChain& chain, const Shape& input,
                const Shape& output);

  /// Returns the input rows that some output rows read, without padding.
  ImageRows reads(const ImageRows& rows) const;
  /// Returns the most input rows that so many output rows read.
  std::int64_t most_read(std::int64_t rows) const;

  /// Computes output rows of an image to `output`. `floor`: inputs are clamped from below to it.
  void run(int threads, const RowsAt& input, const ImageRows& rows, float floor,
           float* output) const;

 private:
  void activate(const WindowTask& row) const;

  RowWindow window_;
  WindowRows kernel_;
  std::shared_ptr<const PackedWeights> weights_;
  Bounds bounds_;           // of a relu or a Clip after it
  ActivationPass between_;  // another activation
};

}  // namespace hios::cpu
