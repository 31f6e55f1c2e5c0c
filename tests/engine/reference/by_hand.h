#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/reference/backend.h"
#include "support/layers/operations.h"

/// Operations on the reference backend with weights and results written by hand in a test.
namespace hios::test {

using Floats = std::vector<float>;

/// The weights and bias of a test's only layer, and the number of requests for them.
class FixedSource final : public TensorSource {
 public:
  FixedSource() = default;
  FixedSource(Floats weights, Floats bias) : weights_(std::move(weights)), bias_(std::move(bias)) {}
  void weights(const Model&, const Layer&, std::span<float> out) override {
    ++drawn;
    ASSERT_EQ(out.size(), weights_.size());
    std::ranges::copy(weights_, out.begin());
  }
  void bias(const Model&, const Layer&, std::span<float> out) override {
    ASSERT_EQ(out.size(), bias_.size());
    std::ranges::copy(bias_, out.begin());
  }
  void input(const Model&, std::span<float>) override { FAIL() << "no test asks for an input"; }

  int drawn = 0;

 private:
  Floats weights_, bias_;
};

inline std::unique_ptr<Backend> reference_backend(int threads = 1) {
  return reference::make_backend({.threads = threads, .cores = {}});
}

inline Floats run(const OperationCase& c, const std::vector<Floats>& inputs,
                  FixedSource source = {}) {
  return run_operation(*reference_backend(), c, 1, inputs, source);
}

}  // namespace hios::test
