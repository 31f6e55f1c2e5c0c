#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace hios::cuda {

/// One NVIDIA GPU: convolutions by cuDNN, cuBLASLt and our own kernels, whichever was fastest for
/// the shape, the rest by our own kernels; NHWC, in any arithmetic. Stages only queue: streams are
/// CUDA streams, recordings CUDA graphs. Given the same algorithms() on the same kind of GPU, it
/// computes the same bits, however operators are spread over streams and ranks.
///
/// Operators bound by one backend share workspaces and, for layers of the same model and source,
/// weights: while a bound operator or a recording lives, so must the backend, model and source that
/// it was bound with.
///
/// Throws InputError, one line with a remedy, where there is no such GPU.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace hios::cuda
