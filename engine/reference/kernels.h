#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hios/model/layer.h"
#include "hios/model/tensor.h"

/// The arithmetic of the reference backend: a function for each kind of layer, in convolutions.cpp,
/// elementwise.cpp, moves.cpp, pools.cpp, reductions.cpp and resize.cpp. Tensors are dense NHWC;
/// shapes match as `infer_shape` says. No function allocates.
namespace hios::reference {

struct Input {
  const float* data = nullptr;
  Shape shape;
};

struct Output {
  float* data = nullptr;
  Shape shape;
};

/// A Conv with its weights in the order in which the loops read them.
class PackedConv {
 public:
  /// Takes `weights` in ONNX order (out, in/groups, kernel h, kernel w); `bias` is empty if the
  /// Conv has none.
  PackedConv(const Conv& conv, std::int64_t in_channels, std::span<const float> weights,
             std::span<const float> bias);

  void run(const Input& in, const Output& out) const;

 private:
  bool depthwise() const { return group_inputs_ == 1 && group_outputs_ == 1; }
  void pack_depthwise(std::span<const float> weights);
  void pack_tiles(std::span<const float> weights);
  void run_depthwise(const Input& in, const Output& out) const;
  void run_tiled(const Input& in, const Output& out) const;
  void run_row(const Input& in, const Output& out, std::int64_t n, std::int64_t row,
               std::int64_t group, std::int64_t tile) const;

  Conv conv_;
  std::int64_t group_inputs_, group_outputs_;  // channels of one group
  std::int64_t tiles_ = 0;                     // tiles of output channels, in one group
  // Depthwise: [kernel h][kernel w][channel]. Otherwise: [group][tile][kernel h][kernel w]
  // [input channel][output channel of the tile], the last tile filled up with zeros.
  std::vector<float> weights_;
  std::vector<float> bias_;     // [output channel]; zeros where there is none
  std::vector<float> padding_;  // one pixel of zeros
};

/// The same for a ConvTranspose, whose weights come as (in, out/groups, kernel h, kernel w).
class PackedConvTranspose {
 public:
  PackedConvTranspose(const ConvTranspose& conv, std::int64_t in_channels,
                      std::span<const float> weights, std::span<const float> bias);

  void run(const Input& in, const Output& out) const;

 private:
  /// Calls visit(tap, input h, input w) for each input pixel that contributes to an output pixel.
  template <class Visit>
  void for_each_source(const Shape& in, std::int64_t h, std::int64_t w, Visit visit) const;

  ConvTranspose conv_;
  std::int64_t group_inputs_, group_outputs_;  // channels of one group
  std::vector<float> weights_;  // [kernel h][kernel w][input channel][output channel of its group]
  std::vector<float> bias_;     // [output channel]; zeros where there is none
};

/// Computes a pool. Padding is never the maximum; hios/model/layer.h defines the divisor of an
/// average.
void pool(const Pool& pool, const Input& in, const Output& out);
void global_average_pool(const Input& in, const Output& out);
void relu(const Input& in, const Output& out);
void sum(std::span<const Input> in, const Output& out);
void unary(const Unary& unary, const Input& in, const Output& out);
/// Computes a function of two operands in their order; one may be a constant.
void binary(const Binary& binary, const Input& left, const Input& right, const Output& out);

void reduce(const Reduce& reduce, const Input& in, const Output& out);
void softmax(const Softmax& softmax, const Input& in, const Output& out);
/// Normalises; does not read a scale or bias that the layer does not have.
void normalize(const Normalization& layer, const Input& in, const Input& scale, const Input& bias,
               const Output& out);
void normalize_response(const LocalResponseNormalization& layer, const Input& in,
                        const Output& out);
void multiply(const MatMul& matmul, const Input& left, const Input& right, const Output& out);

void resize(const Resize& resize, const Input& in, const Output& out);

void concat(const Concat& concat, std::span<const Input> in, const Output& out);
void pad(const Pad& pad, const Input& in, const Output& out);
void move(const Move& move, const Input& in, const Output& out);
void gather(const Input& indices, const Input& table, const Output& out);
void find_top(const TopK& top, const Input& in, const Output& out);

}  // namespace hios::reference
