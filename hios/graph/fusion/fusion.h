#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "hios/base/ids.h"
#include "hios/model/model.h"

/// The form of an operator's layers, found once when they become an operator. Backends read the
/// form and bind buffers to it, so they need not analyse the order of the layers again.
namespace hios {

/// One of an operator's inputs: an index into OperatorLayers::inputs.
using InputIndex = Id<struct InputTag>;

/// A sum of the terms, relu, depthwise convolution, activation, convolution, sum with the addend
/// and activation, in this order; all but the convolution are optional (one term: no sum). After
/// `depthwise`, `convolution` is a pointwise one that reads every pixel; a depthwise convolution on
/// its own is `convolution`. Instead of all before the convolution, a product of one term with the
/// gate may come before a pointwise one.
struct ConvolutionChain {
  std::vector<InputIndex> terms;
  std::optional<InputIndex> gate = {};  ///< a factor for each channel of an image
  bool relu_before = false;
  std::optional<LayerId> depthwise = {};
  std::optional<LayerId> between = {};  ///< is_activation; only after `depthwise`
  LayerId convolution = {};
  std::optional<InputIndex> addend = {};   ///< it has the output's shape
  std::optional<LayerId> activation = {};  ///< is_activation

  /// Returns true if any layer comes before the convolution.
  bool has_front() const { return terms.size() > 1 || gate || relu_before || depthwise; }
  bool operator==(const ConvolutionChain&) const = default;
};

/// A pointwise convolution of stride 1, its activation, and a chain with a depthwise convolution
/// that alone reads it, as in inverted residuals (Sandler et al., "MobileNetV2: Inverted Residuals
/// and Linear Bottlenecks", section 3.3). `chain` is made of the layers after it; its one term
/// stands for what the first layers make.
struct ExpandedForm {
  InputIndex input;
  LayerId expansion;
  std::optional<LayerId> activation = {};  ///< is_activation
  ConvolutionChain chain;
  bool operator==(const ExpandedForm&) const = default;
};

struct PoolForm {
  InputIndex input;
  LayerId pool;
  bool operator==(const PoolForm&) const = default;
};

struct GlobalAverageForm {
  InputIndex input;
  bool operator==(const GlobalAverageForm&) const = default;
};

/// A range of a tensor's channels; a count of 0 means all of them.
struct ChannelSlice {
  std::int64_t first = 0, count = 0;
  bool operator==(const ChannelSlice&) const = default;
};

/// A concatenation of channel ranges, each a sum of terms (one: a copy), with a relu on all or
/// none. A sum, a relu or a slice of channels on its own is one range; a concat has one for each of
/// its inputs.
struct CombineForm {
  std::vector<std::vector<InputIndex>> ranges;
  bool relu = false;
  /// The channels that each range reads of its one term; empty: all ranges read whole tensors.
  std::vector<ChannelSlice> slices = {};
  bool operator==(const CombineForm&) const = default;
};

/// A single layer that none of the forms above covers; it reads the operator's inputs in order.
struct SingleForm {
  LayerId layer;
  bool operator==(const SingleForm&) const = default;
};

/// Any other sequence of layers, which backends run part by part (parts_of).
struct LayeredForm {
  bool operator==(const LayeredForm&) const = default;
};

using Form = std::variant<LayeredForm, ConvolutionChain, ExpandedForm, PoolForm, GlobalAverageForm,
                          CombineForm, SingleForm>;

/// The layers of one operator in order, its inputs and output, and its form. Only the last layer's
/// output is read outside the operator.
struct OperatorLayers {
  std::vector<LayerId> layers;
  /// Inputs in the order of consumption, with multiplicity, including the model's input.
  std::vector<TensorId> inputs;
  std::vector<Shape> input_shapes;  ///< the shape in which each of them is read
  TensorId output;                  ///< the last layer's output
  Form form;
};

/// Returns the floating-point operations of an operator's layers.
double flop(const Model& model, const OperatorLayers& op);

/// Returns the operator that these layers form. REQUIRES: at least one; each after those that it
/// reads.
OperatorLayers fuse(const Model& model, std::vector<LayerId> layers);

/// An operand of a part: an input of the operator, or the output of an earlier part.
struct Operand {
  bool made_inside = false;
  std::size_t index = 0;  ///< index of that part, or into the operator's inputs
  bool operator==(const Operand&) const = default;
};

/// A part of an operator: some of its layers that can run as an operator of their own.
struct Part {
  OperatorLayers layers;
  std::vector<Operand> operands;  ///< one for each of `layers.inputs`
};

/// Divides an operator for a backend without a kernel for the whole. A part is one layer, or a
/// convolution or sum with the relu that is its only consumer. Of an ExpandedForm, there are two
/// parts: the layers before its chain, and the chain.
std::vector<Part> parts_of(const Model& model, const OperatorLayers& op);
/// Divides an operator into its layers.
std::vector<Part> single_layers(const Model& model, const OperatorLayers& op);

/// Returns true for a relu or another function that libraries fuse into a convolution.
bool is_activation(const LayerKind& kind);

/// Returns true for a convolution with one filter a channel and more than one channel.
bool is_depthwise(const Layer& layer);
/// Returns true for a 1×1 convolution without padding or groups, of any stride.
bool is_pointwise(const Layer& layer);
/// Returns true for a pointwise convolution of stride 1.
bool reads_every_pixel(const Layer& layer);
/// Returns which of the layer's inputs is the gate (0 or 1), if the layer is the product of images
/// of several pixels and a computed factor for each channel of an image, as in squeeze and
/// excitation.
std::optional<std::size_t> gate_of(const Layer& layer);
/// Returns true for a depthwise convolution and a pointwise one that reads every pixel, which one
/// operator can fuse. REQUIRES: the second reads the first, or an activation of it.
bool is_separable(const Layer& depthwise, const Layer& pointwise);

}  // namespace hios
