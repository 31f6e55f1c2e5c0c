#include "hios/graph/separate_inputs.h"

#include <algorithm>

#include "hios/base/error.h"

namespace hios {
namespace {

bool one_for_all(const std::optional<Shape>& constant) { return !constant || constant->n == 1; }

/// Returns true if the outermost dimension goes from input to input, and the others stay inside
/// one.
bool stays_inside(const Move& move, std::int64_t inputs, std::int64_t values) {
  if (move.dimensions.empty() || move.dimensions.front().size != inputs) return false;
  const std::int64_t of_one = values / inputs;
  if (move.dimensions.front().stride != of_one) return false;
  std::int64_t first = move.offset, last = move.offset;
  for (std::size_t d = 1; d < move.dimensions.size(); ++d) {
    const std::int64_t reach = (move.dimensions[d].size - 1) * move.dimensions[d].stride;
    (reach < 0 ? first : last) += reach;
  }
  return first >= 0 && last < of_one;
}

/// The test of a layer whose tensors all have the inputs as their first extent.
struct Separate {
  std::int64_t inputs, values;  ///< extents of the first tensor that it reads

  bool operator()(const Concat& concat) const { return concat.axis != Axis::kN; }
  bool operator()(const Binary& binary) const { return one_for_all(binary.constant); }
  bool operator()(const Softmax& softmax) const { return !softmax.axes.n; }
  bool operator()(const Reduce& reduce) const { return !reduce.axes.n; }
  bool operator()(const Normalization& normalization) const {
    return !normalization.axes.n && one_for_all(normalization.scale) &&
           one_for_all(normalization.bias);
  }
  bool operator()(const Pad& pad) const { return pad.begin.n == 0 && pad.end.n == 0; }
  bool operator()(const Gather& gather) const { return gather.table.has_value(); }
  bool operator()(const Move& move) const { return stays_inside(move, inputs, values); }
  template <class Other>
  bool operator()(const Other&) const {
    return true;
  }
};

bool separate(const Model& model, const Layer& layer) {
  const std::int64_t inputs = model.batch();
  const auto whole = [&](const Shape& shape) { return shape.n == inputs; };
  return std::ranges::all_of(layer.input_shapes, whole) &&
         whole(model.tensor(layer.output).shape) &&
         std::visit(Separate{inputs, layer.input_shapes.front().elements()}, layer.kind);
}

}  // namespace

void require_separate_inputs(const Model& model) {
  if (model.batch() == 1) return;
  for (const Layer& layer : model.layers()) {
    if (separate(model, layer)) continue;
    throw InputError("the layer " + quote(layer.name) + " of " + quote(model.name()) +
                     " does not compute each input by itself, so that they cannot be divided");
  }
}

}  // namespace hios
