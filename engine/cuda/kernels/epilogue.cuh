#pragma once

#include "engine/backend/layers/functions.h"
#include "engine/cuda/kernels/common.cuh"

#ifdef __CUDACC__
#define HIOS_NOT_INLINED __noinline__
#else
#define HIOS_NOT_INLINED
#endif

/// The end of kernels that sum (Epilogue of kernels.h), for one value or four neighbouring
/// channels.
namespace hios::cuda {

/// Not inlined: a thread of a convolution calls it for each of its sums, up to 64, and code for all
/// functions in each of these places would be larger than the kernel.
inline __device__ HIOS_NOT_INLINED float value_of(Unary::Function function, float alpha, float beta,
                                                  float x) {
  return functions::value_of<float>(function, alpha, beta, x);
}

template <class T, int count>
__device__ __forceinline__ void add_bias(const Epilogue& after, int channel, Values<count>& sum) {
  if (after.bias != nullptr) add(sum, load<count>(static_cast<const T*>(after.bias) + channel));
}

/// Adds the addend at this position of the output, and applies the activation. `unary` is false in
/// kernels that are launched for no function but a relu.
template <class T, bool unary = true, int count>
__device__ __forceinline__ void add_and_activate(const Epilogue& after, long long at,
                                                 Values<count>& sum) {
  if (after.addend != nullptr) add(sum, load<count>(static_cast<const T*>(after.addend) + at));
  const Activation& activation = after.activation;
  if (activation.kind == Activation::Kind::kRelu) relu(sum);
  if constexpr (unary) {
    if (activation.kind != Activation::Kind::kUnary) return;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      sum.v[i] = value_of(activation.function, activation.alpha, activation.beta, sum.v[i]);
    }
  }
}

}  // namespace hios::cuda
