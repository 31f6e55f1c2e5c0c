#pragma once

#include "engine/cuda/kernels/kernels.h"
#include "hios/model/layer.h"

/// Kernels of the layers that no built-in network has; as in kernels.h. Each value of an output is
/// computed by one thread or one block, in an order that its own operands decide, not the number of
/// the others: a shard has the bits of the whole.
namespace hios::cuda {

/// Values of a tensor in an order of their own: number i, counted through `sizes` with the last
/// dimension the fastest, lies at offset + Σ index · stride.
struct View {
  static constexpr int kMaxDimensions = 6;
  int dimensions = 1;  ///< at least 1
  int sizes[kMaxDimensions] = {1}, strides[kMaxDimensions] = {0};
  int offset = 0;
};

/// output = function(input + addend). A relu is a Clip from 0 to infinity.
struct UnaryTask {
  Element element = Element::kFloat;
  Unary::Function function = Unary::Function::kClip;
  float alpha = 0, beta = 0;
  const void* input = nullptr;   ///< may be the output
  const void* addend = nullptr;  ///< null: none
  void* output = nullptr;
  int values = 0;
};
cudaError_t unary(const UnaryTask& task, cudaStream_t stream);

struct BinaryTask {
  Element element = Element::kFloat;
  Binary::Function function = Binary::Function::kAdd;
  const void *left = nullptr, *right = nullptr;
  View of_left, of_right;  ///< the output's values in each operand
  void* output = nullptr;
  int values = 0;
};
cudaError_t binary(const BinaryTask& task, cudaStream_t stream);

/// Copies values, bit for bit, from one view to another.
struct CopyTask {
  Element element = Element::kFloat;
  const void* from = nullptr;
  void* to = nullptr;
  View of_from, of_to;
  int values = 0;
};
cudaError_t copy(const CopyTask& task, cudaStream_t stream);

/// Copies the row of a table that each index names, bit for bit; zeros where it names none.
struct GatherTask {
  Element element = Element::kFloat;
  const void *indices = nullptr, *table = nullptr;
  int rows = 0, columns = 0;
  void* output = nullptr;
  int values = 0;
};
cudaError_t gather(const GatherTask& task, cudaStream_t stream);

/// The first k of each row's `columns` values (TopK, hios/model/layer.h), or their positions.
struct TopTask {
  Element element = Element::kFloat;
  const void* input = nullptr;
  void* output = nullptr;
  int values = 0;  ///< of all rows
  int columns = 0, k = 0;
  bool largest = true, positions = false;
};
cudaError_t find_top(const TopTask& task, cudaStream_t stream);

/// Arrays have the axes in the order of memory: n, h, w, c.
struct PadTask {
  Element element = Element::kFloat;
  Pad::Mode mode = Pad::Mode::kConstant;
  float value = 0;
  const void* input = nullptr;
  int in[4] = {}, begin[4] = {}, out[4] = {};
  void* output = nullptr;
};
cudaError_t pad(const PadTask& task, cudaStream_t stream);

/// A tensor as boxes of values that are reduced together.
struct Boxes {
  int count = 0;           ///< of boxes
  int size = 0;            ///< values in each
  View first;              ///< the first value of each box
  View inside;             ///< the values of a box, from its first one
  bool neighbours = true;  ///< neighbouring boxes are neighbours in memory; else a box's values are
};

struct ReduceTask {
  Element element = Element::kFloat;
  Reduce::Function function = Reduce::Function::kSum;
  Boxes boxes;
  const void* input = nullptr;
  void* output = nullptr;  ///< one value for each box
};
cudaError_t reduce(const ReduceTask& task, cudaStream_t stream);

struct SoftmaxTask {
  Element element = Element::kFloat;
  bool log = false;
  Boxes boxes;
  const void* input = nullptr;
  void* output = nullptr;
};
cudaError_t softmax(const SoftmaxTask& task, cudaStream_t stream);

struct NormalizationTask {
  Element element = Element::kFloat;
  float epsilon = 0;
  Boxes boxes;
  const void *input = nullptr, *scale = nullptr, *bias = nullptr;  ///< scale, bias: null: none
  View of_scale, of_bias;  ///< the output's values in each of them
  void* output = nullptr;
};
cudaError_t normalize(const NormalizationTask& task, cudaStream_t stream);

/// The window of a value: `before` channels before it and `after` after it.
struct ResponseTask {
  Element element = Element::kFloat;
  int values = 0, channels = 0, before = 0, after = 0;
  float scale = 0, power = 0, bias = 0;  ///< x / (bias + scale · Σ squares) ^ power
  const void* input = nullptr;
  void* output = nullptr;
};
cudaError_t normalize_response(const ResponseTask& task, cudaStream_t stream);

/// An input row or column of an output one, and its weight.
struct ResizeTap {
  int at = 0;
  float weight = 0;
};
struct ResizeTask {
  Element element = Element::kFloat;
  int height = 0, width = 0, channels = 0;
  int images = 0, out_height = 0, out_width = 0;
  int taps = 1;                                               ///< on each axis
  const ResizeTap *of_rows = nullptr, *of_columns = nullptr;  ///< `taps` for each
  const void* input = nullptr;
  void* output = nullptr;
};
cudaError_t resize(const ResizeTask& task, cudaStream_t stream);

/// A transposed convolution: the window goes from the output to the input.
struct TransposedTask {
  Element element = Element::kFloat;
  TaskWindow window;
  int groups = 1;
  const void* input = nullptr;
  const void* weights = nullptr;  ///< [kernel h][kernel w][in channel][out channel of its group]
  const void* bias = nullptr;     ///< null: none
  void* output = nullptr;
};
cudaError_t transposed_convolution(const TransposedTask& task, cudaStream_t stream);

/// Products of matrices, which number `outer` x `inner` in the output.
struct ProductTask {
  Element element = Element::kFloat;
  int outer = 1, inner = 1;
  int rows = 0, columns = 0, depth = 0;
  // From a matrix to the next one in each direction, in values; 0: it is repeated.
  int left_outer = 0, left_inner = 0, right_outer = 0, right_inner = 0;
  bool transpose_right = false;  ///< the right matrices are columns x depth
  const void *left = nullptr, *right = nullptr;
  void* output = nullptr;
};
cudaError_t product(const ProductTask& task, cudaStream_t stream);

}  // namespace hios::cuda
