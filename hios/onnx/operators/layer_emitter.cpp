#include "hios/onnx/operators/layer_emitter.h"

#include <algorithm>

#include "hios/base/error.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/runs.h"

namespace hios::onnx {
namespace {

/// Returns the loops of a Move, adjacent axes merged where one loop can walk them.
std::vector<Move::Dimension> loops_of(const View& view, std::span<const std::size_t> order) {
  std::vector<Move::Dimension> loops;
  for (const std::size_t axis : order) {
    const std::int64_t size = view.dims[axis], stride = view.strides[axis];
    if (size == 1) continue;
    if (!loops.empty() && loops.back().stride == size * stride) {
      loops.back() = {loops.back().size * size, stride};
    } else {
      loops.push_back({size, stride});
    }
  }
  if (loops.empty()) loops.push_back({1, 0});
  return loops;
}

}  // namespace

DraftId LayerEmitter::add(const LayerKind& kind, const std::vector<LayerInput>& inputs,
                          ModelWeights::Values parameters, bool affine) {
  DraftLayer layer;
  // The first layer that is not a Move has the node's name.
  if (std::holds_alternative<Move>(kind)) {
    layer.name = draft_.unique(node_.name() + ".move");
  } else {
    layer.name = named_ ? draft_.unique(node_.name()) : node_.name();
    named_ = true;
  }
  layer.kind = kind;
  layer.affine = affine;
  layer.parameters = std::move(parameters);
  for (const LayerInput& input : inputs) {
    layer.inputs.push_back(input.tensor);
    layer.input_shapes.push_back(input.shape);
  }
  return draft_.add(std::move(layer));
}

View LayerEmitter::dense(const View& view, std::span<const std::size_t> order) {
  const std::int64_t count = elements(view.dims);
  if (count == 0) fail("would compute on an empty tensor");
  if (view.is_constant()) {
    auto values = std::make_shared<Constant>();
    values->type = view.constant().type;
    if (values->type == Constant::Type::kFloat) {
      values->floats = floats_of(view, order);
    } else {
      values->integers = integers_of(transpose(view, order));
    }
    return dense_view(std::move(values), view.dims, order);
  }
  if (lies_dense(view, order, draft_.size(view.tensor()))) return view;
  std::vector<Move::Dimension> loops = loops_of(view, order);
  if (loops.size() > Move::kMaxDimensions) fail("moves values along more than six dimensions");
  const Shape& whole = draft_.tensors[view.tensor().index()].shape;
  const Move move{shape_of(extents_in(view.dims, order)), std::move(loops), view.offset};
  View moved = dense_view(add(move, {{view.tensor(), whole}}, {}, false), view.dims, order);
  moved.computed_type = view.computed_type;
  moved.computed_element = view.computed_element;
  return moved;
}

View LayerEmitter::as_tensor(const View& view) {
  if (!view.is_constant()) return view;
  if (constants_ == nullptr) fail("computes on a constant where a tensor is needed");
  const auto count = static_cast<std::int64_t>(view.constant().size());
  const auto order = dense_order(view, count);
  View whole = order ? view : dense(view);
  std::vector<float> values =
      floats_of(whole, order ? *order : memory_order(view.rank()));  // fails for integers
  const DraftId tensor(draft_.tensors.size());
  draft_.tensors.push_back(
      {shape_of(extents_in(view.dims, order ? *order : memory_order(view.rank()))), {}});
  constants_->resize(draft_.tensors.size());
  constants_->back() = std::move(values);
  whole.base = tensor;
  return whole;
}

std::vector<float> LayerEmitter::take_floats(const View& view) {
  auto& floats = const_cast<Constant&>(view.constant()).floats;
  const auto size = static_cast<std::int64_t>(floats.size());
  const bool last = std::ranges::find(last_uses_, &view.constant()) != last_uses_.end();
  constexpr std::int64_t kMostSpare = std::int64_t{1} << 23;  // values: 32 MiB
  const std::vector<std::size_t> own = own_axes(view.rank());
  const bool moves = !lies_dense(view, own, size);
  if (size == 0 || !last || !dense_order(view, size) || (moves && size > kMostSpare))
    return floats_of(view);
  std::vector<float> values = std::move(floats);  // which nothing sees
  if (!moves) return values;
  // Their order changes in place, by a copy in memory that is there already: new pages would cost
  // more than that.
  draft_.spare.assign(values.begin(), values.end());
  copy_runs(draft_.spare.data(), runs_of(view, own), values.data());
  return values;
}

LayerInput LayerEmitter::input(const View& view, std::span<const std::size_t> order) {
  return {as_tensor(dense(view, order)).tensor(), shape_of(extents_in(view.dims, order))};
}

LayerInput LayerEmitter::input_in_any_order(const View& view, View& read) {
  read = as_tensor(view);
  if (!dense_order(read, draft_.size(read.tensor()))) read = dense(read);
  return {read.tensor(), draft_.tensors[read.tensor().index()].shape};
}

LayerInput LayerEmitter::image(const View& view) {
  if (view.rank() != 4) {
    fail("takes images (four dimensions), not " + std::to_string(view.rank()) + " dimensions");
  }
  return input(view, memory_order(4));
}

View LayerEmitter::emit(const LayerKind& kind, const std::vector<LayerInput>& inputs,
                        const Dims& dims, std::span<const std::size_t> order,
                        ModelWeights::Values parameters, bool affine) {
  const DraftId made = add(kind, inputs, std::move(parameters), affine);
  if (draft_.size(made) != elements(dims)) {
    fail("makes " + draft_.tensors[made.index()].shape.to_string() + " where " +
         std::to_string(elements(dims)) + " values were expected");
  }
  return dense_view(made, dims, order);
}

View LayerEmitter::emit_like(const View& read, const LayerKind& kind, const LayerInput& input) {
  View result = read;
  result.base = add(kind, {input}, {}, false);
  return result;
}

}  // namespace hios::onnx
