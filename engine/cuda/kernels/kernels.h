#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "hios/model/layer.h"

/// Our own kernels: the parameters of the launches, and the launches. Tensors are dense NHWC of
/// less than 2^31 values. All operands of a task have its element, unless stated otherwise, and are
/// aligned to four elements. Whatever the element, the arithmetic is fp32: halves are widened as
/// they are read, and the result is rounded once, as it is written. Every sum is computed in a
/// fixed order, whatever the launch parameters, so the same operands give the same bits. A launch
/// only queues; its error is that of the launch itself.
namespace hios::cuda {

/// The format of a value in memory.
enum class Element { kFloat, kHalf };
constexpr std::size_t size_of(Element element) { return element == Element::kHalf ? 2 : 4; }

/// A window from a tensor of `height` x `width` x `channels` to one of `out_height` x `out_width`.
struct TaskWindow {
  int images = 0, height = 0, width = 0, channels = 0;
  int out_height = 0, out_width = 0, out_channels = 0;
  int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;
  int dilation_h = 1, dilation_w = 1;  ///< between taps
};

/// The function that a kernel applies to its sums before it writes them.
struct Activation {
  enum class Kind { kNone, kRelu, kUnary };
  Kind kind = Kind::kNone;
  Unary::Function function = Unary::Function::kClip;  ///< kUnary: this one
  float alpha = 0, beta = 0;
};

/// The end of a kernel that sums: activation(sum + bias + addend).
struct Epilogue {
  const void* bias = nullptr;    ///< a value for each channel; null: none
  const void* addend = nullptr;  ///< a tensor like the output; null: none
  Activation activation = {};
};

/// Sums, relus, slices and concats: channel ranges of the output, each a sum of terms (one: a
/// copy).
struct CombineTask {
  static constexpr int kMaxTerms = 96, kMaxRanges = 16;
  Element element = Element::kFloat;
  const void* terms[kMaxTerms];    ///< all ranges, one after another
  int first_term[kMaxRanges + 1];  ///< by range; the last element: the number of terms
  int channels[kMaxRanges];        ///< by range
  /// by range: channels of the tensors that hold its terms, more than `channels` for a slice
  int term_channels[kMaxRanges];
  int first_channel[kMaxRanges];  ///< by range: its position in the output
  int ranges = 0;
  int pixels = 0, out_channels = 0;
  void* output = nullptr;
  bool relu = false;
};
cudaError_t combine(const CombineTask& task, cudaStream_t stream);

/// The epilogue of Σ_s partials[s]; partials are `pixels` x `channels` apart. A single partial may
/// be `output` itself. Several partials are fp32, whatever the element.
struct FinishTask {
  Element element = Element::kFloat;
  const void* partials = nullptr;
  int count = 1;
  Epilogue after = {};
  void* output = nullptr;
  int pixels = 0, channels = 0;
};
cudaError_t finish(const FinishTask& task, cudaStream_t stream);

struct PoolTask {
  Element element = Element::kFloat;
  TaskWindow window;
  const void* input = nullptr;
  void* output = nullptr;
  bool max = false;  ///< false: the average of the pixels inside the image
  /// Rows and columns around the image that count in the divisor of an average, as zeros.
  int counted_top = 0, counted_left = 0, counted_bottom = 0, counted_right = 0;
};
cudaError_t pool(const PoolTask& task, cudaStream_t stream);

struct MeanTask {
  Element element = Element::kFloat;
  const void* input = nullptr;
  void* output = nullptr;
  int images = 0, pixels = 0, channels = 0;
};
cudaError_t global_mean(const MeanTask& task, cudaStream_t stream);

/// One filter for each channel, with a relu before it.
struct DepthwiseTask {
  Element element = Element::kFloat;
  TaskWindow window;
  const void* input = nullptr;
  const void* weights = nullptr;  ///< [kernel h][kernel w][channel]
  Epilogue after = {};
  void* output = nullptr;
  bool relu_before = false;
};
cudaError_t depthwise(const DepthwiseTask& task, cudaStream_t stream);

/// Any convolution, as a matrix product whose left operand is read through the window.
struct ConvolutionTask {
  Element element = Element::kFloat;
  TaskWindow window;
  int groups = 1;
  const void* input = nullptr;
  const void* weights = nullptr;  ///< [out channel][kernel h][kernel w][in channel of the group]
  Epilogue after = {};
  void* output = nullptr;
  bool relu_before = false;
  int split = 1;  ///< parts of each sum that are computed in parallel, and added at the end
  float* partials = nullptr;  ///< split > 1: `split` times the size of the output, in fp32
};
/// The block of the output that a thread block computes.
struct Tile {
  int pixels, channels;
};
inline constexpr Tile kTiles[] = {{128, 128}, {64, 64}, {64, 32}, {32, 64}, {32, 32}};
inline constexpr int kTileCount = sizeof(kTiles) / sizeof(kTiles[0]);
inline constexpr int kTileDepth = 16;  ///< depth of a sum between two barriers
cudaError_t convolution(const ConvolutionTask& task, int tile, cudaStream_t stream);

/// Reads all of the memory and discards it.
cudaError_t read_through(const std::byte* data, std::size_t size_bytes, cudaStream_t stream);

/// Loads the code of all these kernels now: CUDA would do it at the first launch, which may be
/// inside a recording.
cudaError_t load_kernels();

}  // namespace hios::cuda
