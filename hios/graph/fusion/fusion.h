#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "hios/base/ids.h"
#include "hios/model/model.h"

/// What an operator computes as a whole: the form of its layers, found once, when they become an
/// operator. Backends read it and bind buffers to it; they never read the layers' order again.
namespace hios {

/// One of an operator's inputs: an index into OperatorLayers::inputs.
using InputIndex = Id<struct InputTag>;

/// Sum of the terms, relu, depthwise convolution, convolution, sum with the addend, activation: in
/// this order, all but the convolution optional (one term: no sum). Behind a depthwise convolution
/// here comes a pointwise one that reads every pixel; a depthwise convolution on its own is
/// `convolution`.
struct ConvolutionChain {
  std::vector<InputIndex> terms;
  bool relu_before = false;
  std::optional<LayerId> depthwise = {};
  LayerId convolution = {};
  std::optional<InputIndex> addend = {};   ///< of the output's shape
  std::optional<LayerId> activation = {};  ///< is_activation

  /// Whether anything stands in front of the convolution.
  bool has_front() const { return terms.size() > 1 || relu_before || depthwise; }
  bool operator==(const ConvolutionChain&) const = default;
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

/// Some neighbouring channels of a tensor; none counted: all of them.
struct ChannelSlice {
  std::int64_t first = 0, count = 0;
  bool operator==(const ChannelSlice&) const = default;
};

/// Channel ranges of the output, each a sum of terms (one: a copy), with a relu on all or none.
/// A sum, a relu or a slice of channels on its own is one range; a concat has one for each of its
/// inputs.
struct CombineForm {
  std::vector<std::vector<InputIndex>> ranges;
  bool relu = false;
  /// By range, what it reads of its one term; empty: all ranges read whole tensors.
  std::vector<ChannelSlice> slices = {};
  bool operator==(const CombineForm&) const = default;
};

/// A layer by itself that none of the forms above covers; it reads the operator's inputs in order.
struct SingleForm {
  LayerId layer;
  bool operator==(const SingleForm&) const = default;
};

/// None of the others: part by part (parts_of).
struct LayeredForm {
  bool operator==(const LayeredForm&) const = default;
};

using Form = std::variant<LayeredForm, ConvolutionChain, PoolForm, GlobalAverageForm, CombineForm,
                          SingleForm>;

/// The layers of one operator, in order, what crosses its border, and its form. Layers before the
/// last feed only layers of the same operator.
struct OperatorLayers {
  std::vector<LayerId> layers;
  /// As consumed, in order, with multiplicity; the model's input included.
  std::vector<TensorId> inputs;
  std::vector<Shape> input_shapes;  ///< in which each of them is read
  TensorId output;                  ///< the last layer's
  Form form;
};

/// What an operator's layers compute, in floating-point operations.
double flop(const Model& model, const OperatorLayers& op);

/// The operator that these layers make. REQUIRES: at least one; each after those that it reads.
OperatorLayers fuse(const Model& model, std::vector<LayerId> layers);

/// What a part of an operator reads: an input of the operator, or what an earlier part made.
struct Operand {
  bool made_inside = false;
  std::size_t index = 0;  ///< of that part, or into the operator's inputs
  bool operator==(const Operand&) const = default;
};

/// A piece of an operator that can be run by itself.
struct Part {
  OperatorLayers layers;
  std::vector<Operand> operands;  ///< one for each of `layers.inputs`
};

/// The operator in pieces, for a backend that has nothing for the whole: a part is one layer, or a
/// convolution or a sum and the relu behind it where nothing else reads what is between them.
std::vector<Part> parts_of(const Model& model, const OperatorLayers& op);
/// One layer a part.
std::vector<Part> single_layers(const Model& model, const OperatorLayers& op);

/// A relu, or another function that libraries apply in the pass that makes a convolution's output.
bool is_activation(const LayerKind& kind);

/// One filter a channel, no more, and more than one channel.
bool is_depthwise(const Layer& layer);
/// A 1×1 convolution without padding or groups, of any stride.
bool is_pointwise(const Layer& layer);
/// A depthwise convolution, and a pointwise one that reads every pixel: what one operator fuses.
/// That the second reads the first is the caller's to know.
bool is_separable(const Layer& depthwise, const Layer& pointwise);

}  // namespace hios
