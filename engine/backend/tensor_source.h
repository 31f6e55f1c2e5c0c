#pragma once

#include <cstdint>
#include <span>

#include "hios/model/model.h"
#include "hios/model/weights/model_weights.h"

namespace hios {

/// A source of weights and inputs. Each rank makes its own, with the same values on all ranks, so
/// that N ranks compute the same as one.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// Writes the weights of a Conv: (out, in/groups, kernel h, kernel w) in ONNX order; of a
  /// ConvTranspose: (in, out/groups, kernel h, kernel w). For a Binary writes its constant, for a
  /// Normalization its scale, both in NHWC; for a Gather its table, row by row. `out` has
  /// parameter_counts() values.
  virtual void weights(const Model& model, const Layer& layer, std::span<float> out) = 0;
  /// Returns the values of weights() where they lie in memory; empty: they are made when they are
  /// asked for. Valid until forget().
  virtual std::span<const float> weights_in_memory(const Model& /*model*/,
                                                   const Layer& /*layer*/) const {
    return {};
  }
  /// Tells that nothing asks for a layer's weights and bias again: backends have copies of their
  /// own. A source that holds them only for that may free them.
  virtual void forget(const Model& /*model*/, const Layer& /*layer*/) {}
  /// Writes the bias of a Conv or ConvTranspose, one value an output channel; of a Normalization in
  /// NHWC.
  virtual void bias(const Model& model, const Layer& layer, std::span<float> out) = 0;
  /// Writes the model's input, NHWC.
  virtual void input(const Model& model, std::span<float> out) = 0;
  /// Writes one of several different inputs, by number. Number 0 is input(); a source without other
  /// inputs writes that for all numbers.
  virtual void numbered_input(const Model& model, std::size_t /*number*/, std::span<float> out) {
    input(model, out);
  }
  /// Returns true if operators read the parameters in host memory, also on a device with memory of
  /// its own: a read in place of a cold start.
  virtual bool in_host_memory() const { return false; }
};

/// Values from a seed and the layer's name. They are scaled so that activations keep about unit
/// variance through hundreds of layers and differ between channels and inputs; otherwise
/// verification would prove nothing. The scale is a closed formula of the layers and extents before
/// a layer, so weights change with the model's height and width, not with its batch. The same bits
/// on every machine. A model's own weights, if it has some, are used unchanged. Stateless: any
/// thread may call it.
class SeededSource final : public TensorSource {
 public:
  explicit SeededSource(std::uint64_t seed) : seed_(seed) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override;
  std::span<const float> weights_in_memory(const Model& model, const Layer& layer) const override;
  void bias(const Model& model, const Layer& layer, std::span<float> out) override;
  void input(const Model& model, std::span<float> out) override;
  void numbered_input(const Model& model, std::size_t number, std::span<float> out) override;

 private:
  std::uint64_t seed_;
};

/// Returns the weights and the bias of a layer, as many as parameter_counts() says.
ModelWeights::Values values_of(TensorSource& source, const Model& model, const Layer& layer);

}  // namespace hios
