#include "hios/graph/fusion/fusion_patterns.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "hios/graph/fusion/fusion.h"
#include "hios/graph/fusion/fusion_rules.h"
#include "hios/model/channel_slice.h"

// Groups layers to operators (Kundu and Shu, "HIOS", section III-A, counts operators in this way).
//
// The layers are visited in the model's order. Each layer that is not in an operator yet starts one
// and takes as many of the following layers as a pattern allows:
//
//     [depthwise [activation]] conv [+ addend] [activation]     (depthwise: of common windows)
//     pointwise [activation] depthwise [activation] pointwise [+ addend] [activation]
//                                                 (where the tensor in the midst is large)
//     gated pointwise [+ addend] [activation]     (gated: a product with a factor a channel)
//     sum conv [activation]
//     [sum] relu conv
//     [sum] relu depthwise pointwise [relu]
//     [sum | slice …] concat
//     pool · global average pool · relu · sum · any other layer       (on their own)
//
// Invariant: a layer is taken only if it is the one consumer of the layer before it and lies in the
// same block. So no tensor inside an operator is read from outside, no operator waits for its own
// output, and fusion cannot make a cycle. Ordered by their last layers, operators are in
// topological order.
//
// Three choices are not forced. First, a relu between two convolutions belongs to the first, as a
// post-operation costs nothing, unless the first has a relu before it: pre-activation networks
// (NASNet, RandWire) put it with the second. Second, a concat takes the sums directly before it. An
// earlier sum stays an operator, so that its inputs can be released and its work done early. The
// concat takes slices of merged siblings' tensors in the same way and reads the wide tensor itself,
// so nothing is copied twice. Third, a sum of two belongs to the convolution before it (a residual
// network's last of a block), which adds where it would write. Of two convolutions, it is the later
// one, whose other operand is there by then. After a relu convolution the sum stays alone, as the
// paper counts.
//
// One pass, O(layers + inputs). tests/hios/graph/fusion/coarsen_test.cpp holds the patterns,
// tests/hios/model/networks/networks_test.cpp every operator and edge of four networks.
namespace hios {
namespace {

template <class Kind>
const Kind* kind_as(const Layer& layer) {
  return std::get_if<Kind>(&layer.kind);
}

class Patterns {
 public:
  explicit Patterns(const Model& model) : model_(model), taken_(model.layers().size(), false) {}

  /// Returns the layers of each operator, ordered by their last layers.
  std::vector<std::vector<LayerId>> operators() {
    std::vector<std::vector<LayerId>> all;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) continue;
      all.push_back(starting_at(LayerId(i)));
      for (const LayerId id : all.back()) take(id);
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.back() < b.back(); });
    return all;
  }

 private:
  const Layer& layer(LayerId id) const { return model_.layer(id); }

  void take(LayerId id) {
    if (taken_[id.index()]) throw std::logic_error(layer(id).name + " would be in two operators");
    taken_[id.index()] = true;
  }

  /// Returns the only consumer, if it is of this kind.
  template <class Kind>
  std::optional<LayerId> then(LayerId id) const {
    const auto consumer = only_consumer(model_, id);
    if (!consumer || !kind_as<Kind>(layer(*consumer))) return {};
    return consumer;
  }

  std::vector<LayerId> starting_at(LayerId id) const {
    if (kind_as<Conv>(layer(id))) return expanded(id);
    if (kind_as<Relu>(layer(id))) return pre_activated(id);
    if (kind_as<Sum>(layer(id))) return summed(id);
    if (is_slice_of_siblings(id)) return sliced(id);
    if (gate_of(layer(id))) return gated(id);
    return {id};
  }

  bool on_channels(LayerId concat) const {
    return kind_as<Concat>(layer(concat))->axis == Axis::kC;
  }

  /// Returns the activation that is the layer's only consumer, if there is one.
  std::optional<LayerId> activation_after(LayerId id) const {
    const auto consumer = only_consumer(model_, id);
    if (!consumer || !is_activation(layer(*consumer).kind)) return {};
    return consumer;
  }

  /// Returns the sum of two that is a convolution's only consumer and whose other operand was
  /// produced earlier.
  std::optional<LayerId> addition_after(LayerId conv) const {
    const auto sum = then<Sum>(conv);
    if (!sum || layer(*sum).inputs.size() != 2) return {};
    for (const TensorId input : layer(*sum).inputs) {
      const auto producer = model_.tensor(input).producer;
      if (input != layer(conv).output && (!producer || *producer < conv)) return sum;
    }
    return {};
  }

  /// Returns the layers of: conv [activation]
  std::vector<LayerId> convolution(LayerId conv) const {
    if (const auto activation = activation_after(conv)) return {conv, *activation};
    return {conv};
  }

  /// Returns the layers of: conv [+ addend] [activation]
  std::vector<LayerId> convolution_and_addend(LayerId conv) const {
    const auto sum = addition_after(conv);
    if (!sum) return convolution(conv);
    if (const auto activation = activation_after(*sum)) return {conv, *sum, *activation};
    return {conv, *sum};
  }

  /// Returns true for the windows of depthwise convolutions for which backends have fast kernels
  /// that a pointwise one can follow. (1x33 on 256 channels, 3x3 at stride 2x1: apart they took 0.8
  /// and 0.5 of the time.)
  static bool is_common(const Layer& depthwise) {
    const Extent kernel = kind_as<Conv>(depthwise)->kernel,
                 stride = kind_as<Conv>(depthwise)->stride;
    return kernel.h == kernel.w && (kernel.h == 3 || kernel.h == 5 || kernel.h == 7) &&
           stride.h == stride.w && stride.h <= 2;
  }

  /// Returns true where an image of the layer's output is larger than what caches hold next to
  /// other data. Smaller ones gain nothing from a pass in blocks.
  bool is_large(LayerId id) const {
    constexpr std::int64_t kValues = 128 * 1024;
    const Shape& shape = model_.tensor(layer(id).output).shape;
    return shape.c * shape.h * shape.w >= kValues;
  }

  /// Returns the layers of: [pointwise [activation] before depthwise] …
  std::vector<LayerId> expanded(LayerId conv) const {
    std::vector<LayerId> layers = convolution(conv);
    const auto depthwise = then<Conv>(layers.back());
    if (depthwise && reads_every_pixel(layer(conv)) && is_large(conv) &&
        layer(conv).merged.empty() && pointwise_after(*depthwise)) {
      const std::vector<LayerId> next = separable(*depthwise);
      layers.insert(layers.end(), next.begin(), next.end());
      return layers;
    }
    return separable(conv);
  }

  /// Returns the pointwise convolution that can be fused with a depthwise one before it.
  std::optional<LayerId> pointwise_after(LayerId depthwise) const {
    if (!is_depthwise(layer(depthwise)) || !is_common(layer(depthwise))) return {};
    const auto pointwise = then<Conv>(convolution(depthwise).back());
    if (!pointwise || !is_separable(layer(depthwise), layer(*pointwise))) return {};
    return pointwise;
  }

  /// Returns the layers of: [depthwise [activation]] conv [+ addend] [activation]
  std::vector<LayerId> separable(LayerId conv) const {
    const auto pointwise = pointwise_after(conv);
    if (!pointwise) return convolution_and_addend(conv);
    std::vector<LayerId> layers = convolution(conv);
    const std::vector<LayerId> next = convolution_and_addend(*pointwise);
    layers.insert(layers.end(), next.begin(), next.end());
    return layers;
  }

  /// Returns the layers of: gated [pointwise [+ addend] [activation]]
  std::vector<LayerId> gated(LayerId product) const {
    const auto pointwise = then<Conv>(product);
    if (!pointwise || !is_pointwise(layer(*pointwise))) return {product};
    std::vector<LayerId> layers{product};
    const std::vector<LayerId> next = convolution_and_addend(*pointwise);
    layers.insert(layers.end(), next.begin(), next.end());
    return layers;
  }

  /// Returns the layers of: relu conv · relu depthwise pointwise [relu] · relu
  std::vector<LayerId> pre_activated(LayerId relu) const {
    const auto conv = then<Conv>(relu);
    // Merged siblings keep the activation after them, as each of them had it.
    if (!conv || !layer(*conv).merged.empty()) return {relu};
    const auto pointwise = then<Conv>(*conv);
    if (!pointwise || !is_separable(layer(*conv), layer(*pointwise))) return {relu, *conv};
    const auto last = then<Relu>(*pointwise);
    if (!last || then<Conv>(*last)) return {relu, *conv, *pointwise};
    return {relu, *conv, *pointwise, *last};
  }

  /// Returns a sum, with its only consumer where that takes sums.
  std::vector<LayerId> summed(LayerId sum) const {
    std::vector<LayerId> layers{sum};
    std::vector<LayerId> next;
    if (const auto conv = then<Conv>(sum)) {
      next = convolution(*conv);
    } else if (const auto relu = then<Relu>(sum)) {
      next = pre_activated(*relu);
      if (next.size() == 1) next.clear();
    } else if (const auto concat = then<Concat>(sum); concat && on_channels(*concat)) {
      next = terms_up_to(LayerId(sum.index() + 1), *concat);
    }
    layers.insert(layers.end(), next.begin(), next.end());
    return layers;
  }

  /// Returns true for a slice of a wide convolution's output, or of its activation's.
  bool is_slice_of_siblings(LayerId id) const {
    const Move* const move = kind_as<Move>(layer(id));
    if (move == nullptr || !first_sliced_channel(*move, layer(id).input_shapes.front())) {
      return false;
    }
    auto from = model_.tensor(layer(id).inputs.front()).producer;
    if (from && is_activation(layer(*from).kind)) {
      from = model_.tensor(layer(*from).inputs.front()).producer;
    }
    return from && !layer(*from).merged.empty();
  }

  /// Returns a slice, with the concat that is its only consumer where that takes it.
  std::vector<LayerId> sliced(LayerId slice) const {
    std::vector<LayerId> layers{slice};
    if (const auto concat = then<Concat>(slice); concat && on_channels(*concat)) {
      const auto next = terms_up_to(LayerId(slice.index() + 1), *concat);
      layers.insert(layers.end(), next.begin(), next.end());
    }
    return layers;
  }

  /// Returns the layers from `first` to the concat, if all before it are slices or untaken sums
  /// whose only consumer it is; otherwise none.
  std::vector<LayerId> terms_up_to(LayerId first, LayerId concat) const {
    std::vector<LayerId> layers;
    for (LayerId id = first; id < concat; id = LayerId(id.index() + 1)) {
      const bool term = kind_as<Sum>(layer(id)) || is_slice_of_siblings(id);
      if (taken_[id.index()] || !term || only_consumer(model_, id) != concat) return {};
      layers.push_back(id);
    }
    layers.push_back(concat);
    return layers;
  }

  const Model& model_;
  std::vector<bool> taken_;
};

}  // namespace

LayerGroups operators_by_patterns(const Model& model) { return Patterns(model).operators(); }

}  // namespace hios
