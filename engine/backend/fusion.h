#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/backend/backend.h"

/// Which of the forms that backends have a fast operator for an operation has; for the rest, how it
/// is cut into parts that have one.
namespace hios {

/// A tensor outside the operation, as the caller has bound it.
struct Source {
  const std::byte* data = nullptr;
  Shape shape;
  /// REQUIRES: elements are fp32.
  const float* floats() const { return reinterpret_cast<const float*>(data); }
};

/// Sum of the terms, relu, depthwise convolution, convolution, relu: in this order, all but the
/// convolution optional (one term: no sum). The depthwise one, where there is one, is followed by a
/// pointwise one.
struct ConvolutionChain {
  std::vector<Source> terms;
  bool relu_before = false;
  const Layer* depthwise = nullptr;
  const Layer* convolution = nullptr;
  bool relu_after = false;
};

struct PoolForm {
  Source input;
  Pool pool;
};

struct GlobalAverageForm {
  Source input;
};

/// Channel ranges of the output, each a sum of terms (one: a copy), with a relu on all or none.
/// A sum or a relu on its own is one range; a concat has one for each of its inputs.
struct CombineForm {
  std::vector<std::vector<Source>> ranges;
  bool relu = false;
};

/// None of the above: layer by layer.
struct LayeredForm {};

using Form = std::variant<ConvolutionChain, PoolForm, GlobalAverageForm, CombineForm, LayeredForm>;

/// Reads an operation's layers. `inputs` are those of Backend::bind.
Form form_of(const Operation& operation, std::span<const std::byte* const> inputs);

/// The operation layer after layer, for a backend that has no operator for the whole: a part is one
/// layer, or a convolution and the relu behind it where nothing else reads what is between them.
std::vector<OperatorLayers> parts_of(const Operation& operation);

/// One filter a channel, no more.
bool is_depthwise(const Model& model, const Layer& layer);
/// A 1×1 convolution without padding or groups, of any stride.
bool is_pointwise(const Layer& layer);

/// The operation's own sources, by the layers that read them: an earlier layer's output is none.
/// Walks the layers in order, as the inputs of an operation are listed.
class SourceReader {
 public:
  SourceReader(const Operation& operation, std::span<const std::byte* const> inputs);
  /// REQUIRES: called once for each input of each layer, in order. Empty: made inside.
  std::optional<Source> next(TensorId id);
  void made(TensorId id) { made_.push_back(id); }

 private:
  const Operation& operation_;
  std::span<const std::byte* const> inputs_;
  std::vector<TensorId> made_;
  std::size_t next_ = 0;
};

}  // namespace hios
