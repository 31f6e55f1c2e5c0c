#pragma once

#include <cstdint>
#include <span>

#include "hios/model/model.h"

namespace hios {

/// Where weights and inputs come from. Any rank asks for its own, and gets what every other rank
/// would: N ranks compute what one rank computes.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// Of a Conv: (out, in/groups, kernel h, kernel w) in ONNX order. Of a ConvTranspose: (in,
  /// out/groups, kernel h, kernel w). Of a Binary, its constant, and of a Normalization, its scale:
  /// NHWC. As many values as parameter_counts() says.
  virtual void weights(const Model& model, const Layer& layer, std::span<float> out) = 0;
  /// Of a Conv or ConvTranspose with bias: one value an output channel. Of a Normalization, its
  /// bias, NHWC.
  virtual void bias(const Model& model, const Layer& layer, std::span<float> out) = 0;
  /// The model's input, NHWC.
  virtual void input(const Model& model, std::span<float> out) = 0;
  /// Of several different inputs one, by number. Number 0 is input(); a source that knows no other
  /// gives that for all.
  virtual void numbered_input(const Model& model, std::size_t /*number*/, std::span<float> out) {
    input(model, out);
  }
};

/// Values from a seed and the layer's name, scaled so that activations keep about unit variance
/// through hundreds of layers and differ between channels and inputs (verification would mean
/// nothing otherwise). The scale is a closed formula of the layers and extents in front of a layer,
/// so weights change with the model's height and width, not with its batch. The same bits on every
/// machine. A model's own weights, where it brings some, are used as they are. Stateless: any
/// thread may call it.
class SeededSource final : public TensorSource {
 public:
  explicit SeededSource(std::uint64_t seed) : seed_(seed) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override;
  void bias(const Model& model, const Layer& layer, std::span<float> out) override;
  void input(const Model& model, std::span<float> out) override;
  void numbered_input(const Model& model, std::size_t number, std::span<float> out) override;

 private:
  std::uint64_t seed_;
};

}  // namespace hios
