#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace hios::cuda {

/// Returns one NVIDIA GPU. Convolutions use the fastest for the shape of cuDNN, cuBLASLt and our
/// own kernels; all other layers use our own kernels. Tensors are NHWC, in any precision. Stages
/// only queue: streams are CUDA streams, recordings CUDA graphs. Given the same algorithms() on the
/// same kind of GPU, it computes the same bits, however operators are spread over streams and
/// ranks.
///
/// Operators bound by one backend share workspaces and, for layers of the same model and source,
/// weights. So the backend, model and source outlive the bound operators and the recordings.
///
/// Throws InputError, one line with a remedy, if there is no such GPU.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

/// Returns the identities of the GPUs that this process sees, in their order; none where there is
/// no driver.
std::vector<std::string> visible_devices();
/// Returns their PCI addresses, as the driver writes them, in the same order.
std::vector<std::string> device_addresses();

}  // namespace hios::cuda
