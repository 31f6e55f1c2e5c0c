#pragma once

#include <cstddef>

/// Our own loops over NHWC fp32 data, where oneDNN needs more passes over memory than necessary.
/// Each exists once as text (kernels_body.h and what it includes) and three times as code: for
/// AVX-512 (kernels_avx512.cpp), for AVX2 with FMA (kernels_avx2.cpp), and for any processor
/// (kernels_baseline.cpp). kernels() is the best set that this processor runs.
///
/// This header is compiled with the instruction sets of those three, so it must hold no inline
/// function that another file might call.
namespace hios::cpu {

/// The geometry of a window that slides over each channel separately: depthwise convolution, pool.
struct RowWindow {
  std::ptrdiff_t channels;
  std::ptrdiff_t in_height, in_width;
  std::ptrdiff_t kernel_height, kernel_width;
  std::ptrdiff_t stride_height, stride_width;
  std::ptrdiff_t pad_height, pad_width;
  std::ptrdiff_t out_height, out_width;
};

/// Output rows of a window, for some of its channels.
struct WindowTask {
  const float* rows;         ///< input rows from `first_row` on, as many as the output rows need
  std::ptrdiff_t first_row;  ///< in the image; rows outside the image are padding
  std::ptrdiff_t row;        ///< the first one in the output
  std::ptrdiff_t first_chunk, last_chunk;  ///< [first, last) in chunks of `lanes` channels
  float* output;                           ///< pixel 0 of the first output row, channel 0
  /// For depthwise convolutions: per chunk kernel_height × kernel_width × lanes weights, and lanes
  /// biases. Both are padded to whole chunks and 64-byte aligned.
  const float* weights;
  const float* bias;
  /// For depthwise convolutions: inputs are clamped from below to it; 0 is a relu before the layer,
  /// −infinity is none.
  float floor;
  /// For depthwise convolutions: outputs are clamped to them; infinities are none.
  float lowest, highest;
};

using WindowRow = void (*)(const RowWindow&, const WindowTask&);
/// The functions for a window.
struct WindowRows {
  WindowRow one;  ///< computes one output row
  WindowRow two;  ///< computes two rows, the second after the first; null: not faster
};

/// output[p · output_stride + c] = Σ terms[t][term_offset + p · term_stride + c], at least `floor`.
struct CombineTask {
  const float* const* terms;
  std::size_t term_count;  ///< ≥ 1; summed from the first to the last
  std::size_t term_offset;
  std::size_t term_stride;
  float* output;
  std::size_t output_stride;
  std::size_t pixels, channels;
  float floor;
};

/// output[r · output_stride + c] = Σ over k of input[r · input_stride + k] · weights[k][c], in the
/// order of k, + bias[c] + addend[r · output_stride + c], between floor and ceiling; for the
/// columns of a panel, at most panel_chunks. Prefetches what follows the panel's weights.
struct PanelTask {
  const float* input;
  std::ptrdiff_t input_stride;
  const float* weights;  ///< depth × whole chunks, 64-byte aligned
  const float* bias;     ///< whole chunks
  const float* addend;   ///< null: none
  float* output;
  std::ptrdiff_t output_stride;
  std::ptrdiff_t rows, depth, columns;
  std::ptrdiff_t block_depth;  ///< of the weights that are used for all rows before the next
  float floor, ceiling;
};

/// output[p · channels + c] = input[p · input_stride + c] · gate[c].
struct GateTask {
  const float* input;
  std::size_t input_stride;
  const float* gate;
  float* output;
  std::size_t pixels, channels;
};

/// output[c] = scale · Σ over pixels of input[p · channels + c], for c in [first, last).
struct MeanTask {
  const float* input;
  std::size_t pixels, channels;
  std::size_t first_channel, last_channel;
  float scale;
  float* output;
};

/// output[i] = f(input[i]), i < count; for `alpha` and `beta` see Unary. Output and input may be
/// the same.
struct UnaryTask {
  const float* input;
  float* output;
  std::size_t count;
  float alpha, beta;
};
using UnaryRun = void (*)(const UnaryTask&);

/// The functions of one value that have a loop; see Unary for their formulas.
struct UnaryRuns {
  UnaryRun abs, celu, clip, elu, erf, exp, gelu, gelu_tanh, hard_sigmoid, hard_swish, leaky_relu,
      log, mish, neg, reciprocal, selu, sigmoid, silu, softplus, softsign, sqrt, tanh,
      thresholded_relu;
};

/// output[i] = f(left[i], right[i]), i < count; an operand that does not advance is left[0] or
/// right[0] for all of them.
struct BinaryTask {
  const float* left;
  const float* right;
  bool left_moves, right_moves;
  float* output;
  std::size_t count;
};
using BinaryRun = void (*)(const BinaryTask&);
struct BinaryRuns {
  BinaryRun add, sub, mul, div, min, max, prelu, equal, less, less_or_equal, keep_if;
};

/// output[i] = Σ weights[r] · rows[r][i], i < count.
struct WeightedSumTask {
  const float* const* rows;
  const float* weights;
  std::size_t row_count;  ///< ≥ 1; summed from the first to the last
  float* output;
  std::size_t count;
};

/// output[p · channels + c] = (input[p · channels + c] − mean) · rate · scale[c] + bias[c], where
/// mean and rate = 1 / √(variance + epsilon) are those of pixel p's channels; scale and bias that
/// do not advance are scale[0] and bias[0].
struct NormalizeTask {
  const float* input;
  float* output;
  std::size_t pixels, channels;
  const float* scale;
  const float* bias;
  bool scale_moves, bias_moves;
  double epsilon;
};

/// output[p · channels + c] = exp(input[p · channels + c]) / Σ over pixel p's channels of the same.
/// Output and input may be the same.
struct SoftmaxTask {
  const float* input;
  float* output;
  std::size_t pixels, channels;  ///< channels ≥ 1
};

/// The points of Winograd's method: 0, ±near, ±far and infinity. Its error with 512 channels is 0.3
/// to 0.4 of that with the usual 1 and 2 (the largest 9e-6, a plain sum's 7e-6, at outputs with a
/// standard deviation of 1), and all constants that are made of them are exact in fp32.
constexpr float kWinogradNear = 0.625f, kWinogradFar = 1.5f;
/// The outputs of a tile along each axis, and the positions of a tile.
constexpr std::ptrdiff_t kWinogradTile = 4, kWinogradPositions = 36;

/// Winograd's method F(4×4, 3×3): a tile of 4×4 outputs has 36 positions, each of 6×6 inputs and
/// each of the matrices between. output[q · position + t · channels + c] = position q of tile t.
struct WinogradInput {
  const float* image;  ///< its first pixel
  std::ptrdiff_t height, width, channels;
  std::ptrdiff_t top, left;  ///< the first input of the first tile; outside the image are zeros
  std::ptrdiff_t tiles;      ///< next to each other
  float* output;
  std::ptrdiff_t position;  ///< values from a position to the next
};

/// From input[q · position + t · channels + c], the products of a row of tiles, to pixels of an
/// image: bias[c] and the addend's values are added, and the sums are at least `floor`.
struct WinogradOutput {
  const float* input;
  std::ptrdiff_t position;  ///< values from a position to the next
  std::ptrdiff_t tiles;     ///< next to each other
  const float* bias;
  const float* addend;  ///< at the pixel of `output`, with the same rows; null: none
  float floor;
  float* output;                           ///< the first output of the first tile
  std::ptrdiff_t height, width, channels;  ///< of the image from there on; others are not written
  std::ptrdiff_t row;                      ///< values from a row of the image to the next
};

/// A set of kernels. Functions allocate nothing, keep no state, and give every output the same
/// value however the rows, chunks, pixels and channels are divided among calls.
struct Kernels {
  const char* name;      ///< "avx512", "avx2", "baseline"
  std::ptrdiff_t lanes;  ///< channels in a chunk
  bool (*runs_here)();   ///< does this processor have the instructions?
  WindowRows (*depthwise)(const RowWindow&);
  WindowRows (*max_pool)(const RowWindow&);
  WindowRows (*average_pool)(const RowWindow&);  ///< padding does not count
  void (*combine)(const CombineTask&);
  void (*channel_means)(const MeanTask&);
  void (*normalize_channels)(const NormalizeTask&);
  void (*softmax_channels)(const SoftmaxTask&);
  UnaryRuns unary;
  BinaryRuns binary;
  void (*weighted_sum)(const WeightedSumTask&);
  void (*gate)(const GateTask&);
  void (*winograd_input)(const WinogradInput&);
  void (*winograd_output)(const WinogradOutput&);
  void (*multiply_panel)(const PanelTask&);
  std::ptrdiff_t panel_chunks;  ///< of columns: the most of a panel
  std::ptrdiff_t panel_sums;    ///< chunks of a panel × rows that it computes together, at most
};

extern const Kernels kAvx512Kernels, kAvx2Kernels, kBaselineKernels;

/// The sets of this build, the best first, ended by a null pointer. The last one runs anywhere.
extern const Kernels* const kAllKernels[];

/// Returns the best set that this processor runs and the cap allows.
const Kernels& kernels();
/// Excludes all sets before `most` in kAllKernels from now on. Data laid out by another set keep
/// that layout, so call this before the first kernels(). Any thread.
void cap_kernels(const Kernels& most);

}  // namespace hios::cpu
