#include "support/emulated_cuda/backend.h"

#include <nlohmann/json.hpp>

#include "engine/cuda/device/recording.h"

namespace hios::test {

EmulatedCudaBackend::EmulatedCudaBackend(Precision precision, Json algorithms)
    : precision_(precision),
      weights_(streams_, cuda::element_of(precision)),
      algorithms_(std::move(algorithms), /*deterministic=*/true) {
  gpu_.multiprocessors = 8;
  HIOS_CUDA(cuda::load_kernels(), "loading our kernels");
}

std::unique_ptr<BoundOperator> EmulatedCudaBackend::bind(const Operation& operation,
                                                         std::span<const std::byte* const> inputs,
                                                         std::byte* output, const CoreShare& share,
                                                         TensorSource& source) {
  const cuda::ConvolutionTools tools{gpu_, streams_.group(share.stream), nullptr};
  return cuda::bind_operator(
      {operation, {operation, inputs}, output, source, tools, algorithms_, weights_, precision_});
}

std::vector<std::span<std::byte>> EmulatedCudaBackend::parameter_memory(
    const Operation& operation, const TensorSource& source) {
  std::vector<std::span<std::byte>> memory;
  for (const LayerId id : operation.layers->layers) {
    weights_.add_memory(*operation.model, operation.model->layer(id), source, memory);
  }
  return memory;
}

}  // namespace hios::test

// Functions that the operators need and that only a real CUDA can build.
namespace hios::cuda {
namespace {

std::vector<std::string> none(const ConvolutionProblem&, const ConvolutionTools&, bool) {
  return {};
}
std::unique_ptr<ConvolutionAlgorithm> refuse(const std::string& name, const ConvolutionProblem&,
                                             const ConvolutionTools&) {
  refuse_name(name);
}

}  // namespace

const ConvolutionFamily kCudnnConvolutions{"cudnn", none, refuse};
const ConvolutionFamily kLtConvolutions{"lt", none, refuse};
const ConvolutionFamily kGraphConvolutions{"graph", none, refuse};

/// Records nothing: the trials measure no time, and the first of equal candidates is chosen.
GraphExec capture(cudaStream_t, const std::function<void()>&) { return GraphExec(); }

std::string size_text(Bytes size_bytes) { return std::to_string(size_bytes) + " bytes"; }

}  // namespace hios::cuda
