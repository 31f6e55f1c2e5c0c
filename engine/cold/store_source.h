#pragma once

#include <cstddef>
#include <span>

#include "engine/backend/tensor_source.h"

namespace hios {

/// The parameters of another source, as a store in host memory keeps them. A backend holds one copy
/// of the parameters of each source, in the layouts of its operators. So operators that are bound
/// to this source read other memory than those bound to `loaded`, by the same kernels, and get the
/// same bits. That is a read in place: on a CPU, whose memory is the store; on a GPU, in host
/// memory that it maps.
class StoreSource final : public TensorSource {
 public:
  /// `loaded` outlives this.
  explicit StoreSource(TensorSource& loaded) : loaded_(loaded) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    loaded_.weights(model, layer, out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    loaded_.bias(model, layer, out);
  }
  bool in_host_memory() const override { return true; }
  void input(const Model& model, std::span<float> out) override { loaded_.input(model, out); }
  void numbered_input(const Model& model, std::size_t number, std::span<float> out) override {
    loaded_.numbered_input(model, number, out);
  }

 private:
  TensorSource& loaded_;
};

}  // namespace hios
