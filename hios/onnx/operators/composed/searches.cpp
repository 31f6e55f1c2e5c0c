// Part of hios/onnx/operators/families.h: ArgMax, ArgMin and TopK, by a layer for the values and
// one for their positions (TopK, hios/model/layer.h).
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {

View top_along(LayerEmitter& emitter, const View& x, std::size_t axis, const TopK& top) {
  constexpr std::int64_t kMostPositions = std::int64_t{1} << 24;
  if (top.positions && x.dims[axis] > kMostPositions)
    emitter.fail("finds positions on an axis of more than 2^24 values");
  const bool is_list = x.rank() == 1;  // a row of channels
  View rows = with_last(x, axis, false);
  if (is_list) rows = insert_axis(rows, 0);
  const std::vector<std::size_t> own = own_axes(rows.rank());
  Dims dims = rows.dims;
  dims.back() = top.k;
  const View found = emitter.emit(top, {emitter.input(rows, own)}, dims, own);
  return with_last(is_list ? remove_axis(found, 0) : found, axis, true);
}

namespace {

std::size_t axis_of_search(const Node& node, std::int64_t usual) {
  const std::size_t rank = node.input(0).rank();
  if (rank == 0) node.fail("takes one dimension or more");
  return node.axis(node.integer("axis", usual), rank);
}

Views arg_extreme(LayerEmitter& emitter, const Node& node) {
  const std::size_t axis = axis_of_search(node, 0);
  const bool last = node.integer("select_last_index", 0) != 0;
  View x = node.input(0);
  const std::int64_t extent = x.dims[axis];
  if (last) x = slice(x, axis, extent - 1, extent, -1);  // the first one from the end
  View position = top_along(emitter, x, axis, {1, node.type() == "ArgMax", true});
  if (last) {
    position = combine(emitter, Binary::Function::kSub,
                       number_view(static_cast<double>(extent - 1)), position);
  }
  return {node.integer("keepdims", 1) != 0 ? position : remove_axis(position, axis)};
}

Views top_values(LayerEmitter& emitter, const Node& node) {
  const std::size_t axis = axis_of_search(node, -1);
  const View& x = node.input(0);
  const std::vector<std::int64_t> numbers =
      node.has(1) ? node.integers(1) : std::vector<std::int64_t>{node.integer("k", 0)};
  if (numbers.size() != 1 || numbers.front() < 1 || numbers.front() > x.dims[axis])
    node.fail("needs a number of values between 1 and the extent of its axis");
  TopK top{numbers.front(), node.integer("largest", 1) != 0};
  Views outputs{top_along(emitter, x, axis, top)};
  top.positions = true;
  if (node.wants_output(1)) outputs.push_back(top_along(emitter, x, axis, top));
  return outputs;
}

}  // namespace

void add_searches(Operators& operators) {
  for (const char* type : {"ArgMax", "ArgMin"}) {
    operators[type] = {.emit = arg_extreme,
                       .attributes = {.read = {"axis", "keepdims", "select_last_index"}}};
  }
  // Values that are found in another order than that of their size are sorted, too.
  operators["TopK"] = {.emit = top_values,
                       .attributes = {.read = {"axis", "k", "largest"}, .unread = {{"sorted"}}}};
}

}  // namespace hios::onnx
