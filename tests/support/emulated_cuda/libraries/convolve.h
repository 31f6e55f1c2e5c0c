#pragma once

#include <cstddef>

#include "support/emulated_cuda/cuda_runtime_api.h"

/// The convolution that all emulated libraries compute, with the checks that a GPU makes.
namespace hios::cuda_emulation {

/// A convolution of dense NHWC tensors; weights are (out channel, kernel h, kernel w, in channel of
/// the group).
struct Convolution {
  int images = 0, height = 0, width = 0, channels = 0;
  int out_height = 0, out_width = 0, out_channels = 0;
  int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;
  int dilation_h = 1, dilation_w = 1, groups = 1;
  bool halves = false;
  bool rounds_to_tf32 = false;
  bool bias = false, addend = false, relu = false;
  bool gelu = false;  ///< approximated by tanh
  int lanes = 1;      ///< partial sums, which are added at the end: the arithmetic of an algorithm

  std::size_t element_bytes() const { return halves ? 2 : 4; }
  std::size_t input_bytes() const;
  std::size_t weight_bytes() const;
  std::size_t output_bytes() const;
};

/// Operands in the device's memory, and a workspace that is full of garbage afterwards.
struct ConvolutionData {
  const void* input;
  const void* weights;
  const void* bias;
  void* output;
  void* workspace;
  std::size_t workspace_bytes;
  const void* addend = nullptr;
};

/// Alignment that the libraries were promised for all operands.
inline constexpr std::size_t kPromisedAlignment = 16;

/// Queues the convolution. It faults, as a GPU would, at operands outside the device's memory or
/// not aligned as promised. REQUIRES: the device's lock is not held.
cudaError_t queue_convolution(const char* name, const Convolution& convolution,
                              const ConvolutionData& data, cudaStream_t stream);

}  // namespace hios::cuda_emulation
