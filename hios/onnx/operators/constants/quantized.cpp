// Part of hios/onnx/operators/constants/constants.h: weights that a file holds as integers with a
// scale. Values that depend on the input are not quantised.
#include <algorithm>

#include "hios/onnx/operators/constants/constants.h"
#include "hios/onnx/operators/constants/values.h"

namespace hios::onnx {
namespace {

/// Returns a scale or a zero point as it broadcasts over the codes: one value, one for each index
/// of an axis, or one for each block of an axis.
View over_codes(const Node& node, View view, const View& codes, std::size_t axis) {
  if (view.constant().size() == 1) return View{view.base, {}, {}, view.offset};
  const std::int64_t block = std::min(node.integer("block_size", 0), kMaxExtent);
  if (block > 0) {
    if (view.rank() != codes.rank()) node.fail("needs a scale for each block");
    // Each value is repeated `block` times along the axis; the last block may be shorter.
    std::vector<std::size_t> positions;
    const Dims& dims = codes.dims;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const bool fits =
          k == axis ? (dims[k] + block - 1) / block == view.dims[k] : dims[k] == view.dims[k];
      if (!fits) node.fail("needs a scale for each block");
    }
    const Dims strides = dense_strides(dims);
    for (std::int64_t i = 0; i < checked_size(node, dims); ++i) {
      std::int64_t at = view.offset;
      for (std::size_t k = 0; k < dims.size(); ++k) {
        const std::int64_t index = i / strides[k] % dims[k];
        at += (k == axis ? index / block : index) * view.strides[k];
      }
      positions.push_back(static_cast<std::size_t>(at));
    }
    return values_at(view.constant(), positions, dims);
  }
  if (view.rank() != 1 || codes.rank() == 0 || view.dims[0] != codes.dims[axis]) {
    node.fail("needs one scale, or one for each index of its axis");
  }
  for (std::size_t k = axis + 1; k < codes.rank(); ++k) view = insert_axis(view, view.rank());
  return view;
}

/// Computes (code − zero point) · scale.
Views dequantize(const Node& node) {
  const View& codes = node.input(0);
  if (is_real(codes)) node.fail("takes integers");
  if (!is_real(node.input(1))) node.fail("its scale must be floating-point numbers");
  if (node.has(2) && is_real(node.input(2))) node.fail("its zero point must be integers");
  const bool alone = node.input(1).constant().size() == 1;
  const std::size_t axis = alone ? 0 : node.axis(node.integer("axis", 1), codes.rank());
  std::vector<View> operands = {codes, over_codes(node, node.input(1), codes, axis)};
  if (node.has(2)) operands.push_back(over_codes(node, node.input(2), codes, axis));
  const auto value = [](auto v) { return (v[0] - (v.size() > 2 ? v[2] : 0)) * v[1]; };
  return {each_value(node, std::move(operands), ConstantType::kFloat, value, nullptr)};
}

}  // namespace

void add_quantized(Operators& operators) {
  // Newer opsets name the type of the result, which is fp32 here.
  const FoldRow rows[] = {
      {"DequantizeLinear",
       of_constants(dequantize),
       {.read = {"axis", "block_size"}, .unread = {{"output_dtype"}}}},
  };
  add_rows(operators, rows);
}

}  // namespace hios::onnx
