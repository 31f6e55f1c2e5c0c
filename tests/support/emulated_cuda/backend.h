#pragma once

#include <nlohmann/json.hpp>

#include "engine/cuda/operators/operators.h"

namespace hios::test {

/// The CUDA backend's unchanged operators and kernels on the emulated CUDA: everything that
/// engine/cuda/backend.cpp does, except the GPU. Convolutions use our own kernel, since the
/// libraries are missing.
class EmulatedCudaBackend final : public Backend {
 public:
  explicit EmulatedCudaBackend(Precision precision, Json algorithms = Json::object());

  std::string_view name() const override { return "emulated-cuda"; }
  std::string_view kind() const override { return "gpu"; }
  int threads() const override { return 0; }
  Precision precision() const override { return precision_; }
  Json describe() const override { return Json::object(); }
  std::optional<std::string> unsupported(const Operation& operation) const override {
    return cuda::refusal(operation);
  }
  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return std::make_unique<cuda::DeviceBlock>(size_bytes, what);
  }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*)(void*), void*) override {
    streams_.run(groups, shares);
  }
  bool shows_parameters() const override { return true; }
  std::vector<std::span<std::byte>> parameter_memory(const Operation& operation,
                                                     const TensorSource& source) override;
  void reserve_parameters(Bytes size_bytes) override { weights_.reserve(size_bytes); }
  cuda::ConvolutionTools tools() { return {gpu_, streams_.work(), nullptr}; }

 private:
  Precision precision_;
  cuda::Gpu gpu_;
  cuda::Streams streams_;
  cuda::WeightsCache weights_;
  cuda::Algorithms algorithms_;
};

}  // namespace hios::test
