#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/backend.h"
#include "engine/cuda/operators/operators.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/layers/operations.h"

namespace hios::test {

/// Returns the backend without any library's algorithms.
inline std::unique_ptr<Backend> with_own_kernels(Precision precision,
                                                 Json algorithms = Json::object()) {
  cuda_emulation::settings().libraries = false;
  BackendOptions options;
  options.precision = precision;
  options.algorithms = std::move(algorithms);
  return cuda::make_backend(options);
}

/// Returns true for layers whose kernels have barriers.
inline bool has_barriers(const OperationCase& one) {
  const auto* const form = std::get_if<SingleForm>(&one.layers.form);
  if (form == nullptr) return false;
  const LayerKind& kind = one.model.layer(form->layer).kind;
  return std::holds_alternative<Reduce>(kind) || std::holds_alternative<Softmax>(kind) ||
         std::holds_alternative<Normalization>(kind) || std::holds_alternative<MatMul>(kind);
}

inline OperationCase conv_case(const std::string& name, const Shape& input, const Conv& conv,
                               bool relu_before, bool relu_after) {
  return make_operation(name, input, {}, [&](ModelBuilder& b, std::span<const TensorId> x) {
    const TensorId y = b.conv("conv", relu_before ? b.relu("before", x[0]) : x[0], conv);
    if (relu_after) b.relu("after", y);
  });
}

/// Returns the choices of our own kernel, by tile and split, for a convolution.
inline std::vector<Json> own_algorithms(const OperationCase& one, Precision precision) {
  const auto problem =
      cuda::problem_of(one.model, std::get<ConvolutionChain>(one.layers.form), precision);
  cuda::Gpu gpu = cuda::open_gpu(0);
  gpu.multiprocessors = 8;
  cuda::StreamState stream;
  std::vector<Json> own;
  for (const std::string& name : cuda::convolution_candidates(*problem, {gpu, stream, nullptr},
                                                              /*deterministic=*/true)) {
    if (name.starts_with("own ")) own.push_back({{problem->key(), name}});
  }
  return own;
}

}  // namespace hios::test
