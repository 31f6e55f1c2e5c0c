#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

/// Our own kernels: what a launch takes, and the launches. Tensors are dense NHWC of less than 2^31
/// values; all operands of a task are of its element, unless it says otherwise, and lie at
/// multiples of four elements. Whatever the element, the arithmetic is fp32: halves are widened as
/// they are read, and the result is rounded once, as it is written. Every sum is made in a fixed
/// order, whatever the launch looks like, so the same operands give the same bits. A launch only
/// queues; the error is the launch's own.
namespace hios::cuda {

/// What a value is in memory.
enum class Element { kFloat, kHalf };
constexpr std::size_t size_of(Element element) { return element == Element::kHalf ? 2 : 4; }

/// From a tensor of `height` x `width` x `channels` pixels to one of `out_height` x `out_width` by
/// a window.
struct TaskWindow {
  int images = 0, height = 0, width = 0, channels = 0;
  int out_height = 0, out_width = 0, out_channels = 0;
  int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;
  int dilation_h = 1, dilation_w = 1;  ///< between taps
};

/// Sums, relus, slices and concats: channel ranges of the output, each the sum of terms (one: a
/// copy).
struct CombineTask {
  static constexpr int kMaxTerms = 96, kMaxRanges = 16;
  Element element = Element::kFloat;
  const void* terms[kMaxTerms];    ///< of all ranges, one after the other
  int first_term[kMaxRanges + 1];  ///< of a range; the last: how many there are
  int channels[kMaxRanges];        ///< of a range
  int term_channels[kMaxRanges];   ///< of the tensors that its terms lie in: more where it slices
  int first_channel[kMaxRanges];   ///< of a range in the output
  int ranges = 0;
  int pixels = 0, out_channels = 0;
  void* output = nullptr;
  bool relu = false;
};
cudaError_t combine(const CombineTask& task, cudaStream_t stream);

/// y = relu(Σ_s partials[s] + bias), both optional; partials lie `pixels` x `channels` apart. In
/// place where there is one and it is `output`. Several partials are fp32, whatever the element.
struct FinishTask {
  Element element = Element::kFloat;
  const void* partials = nullptr;
  int count = 1;
  const void* bias = nullptr;  ///< null: none
  void* output = nullptr;
  int pixels = 0, channels = 0;
  bool relu = false;
};
cudaError_t finish(const FinishTask& task, cudaStream_t stream);

struct PoolTask {
  Element element = Element::kFloat;
  TaskWindow window;
  const void* input = nullptr;
  void* output = nullptr;
  bool max = false;  ///< else the average of the pixels inside the image
};
cudaError_t pool(const PoolTask& task, cudaStream_t stream);

struct MeanTask {
  Element element = Element::kFloat;
  const void* input = nullptr;
  void* output = nullptr;
  int images = 0, pixels = 0, channels = 0;
};
cudaError_t global_mean(const MeanTask& task, cudaStream_t stream);

/// One filter a channel; relus before and behind it.
struct DepthwiseTask {
  Element element = Element::kFloat;
  TaskWindow window;
  const void* input = nullptr;
  const void* weights = nullptr;  ///< [kernel h][kernel w][channel]
  const void* bias = nullptr;     ///< null: none
  void* output = nullptr;
  bool relu_before = false, relu_after = false;
};
cudaError_t depthwise(const DepthwiseTask& task, cudaStream_t stream);

/// Any convolution, as a matrix product whose left side is read through the window.
struct ConvolutionTask {
  Element element = Element::kFloat;
  TaskWindow window;
  int groups = 1;
  const void* input = nullptr;
  const void* weights = nullptr;  ///< [out channel][kernel h][kernel w][in channel of the group]
  const void* bias = nullptr;     ///< null: none
  void* output = nullptr;
  bool relu_before = false, relu_after = false;
  int split = 1;  ///< parts of each sum that are made side by side, and added at the end
  float* partials = nullptr;  ///< split > 1: that many times the output, in fp32
};
/// A block of the output that a thread block makes.
struct Tile {
  int pixels, channels;
};
inline constexpr Tile kTiles[] = {{128, 128}, {64, 64}, {64, 32}, {32, 64}, {32, 32}};
inline constexpr int kTileCount = sizeof(kTiles) / sizeof(kTiles[0]);
inline constexpr int kTileDepth = 16;  ///< of a sum, between two barriers
cudaError_t convolution(const ConvolutionTask& task, int tile, cudaStream_t stream);

/// Reads it all; what it finds there goes nowhere.
cudaError_t read_through(const std::byte* data, std::size_t size_bytes, cudaStream_t stream);

/// Loads the code of all of these now: CUDA would do it at the first launch, which may fall into a
/// recording.
cudaError_t load_kernels();

}  // namespace hios::cuda
