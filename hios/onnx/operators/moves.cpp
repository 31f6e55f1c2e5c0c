// Part of hios/onnx/operators/families.h: operators that only rearrange values. Most become views,
// which cost nothing until an operator needs their values in another order.
#include <algorithm>
#include <set>

#include "hios/base/error.h"
#include "hios/base/json/json_view.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

/// Returns the coarsest dims that refine both: joining adjacent axes of them gives a, and b. Empty
/// if there are none.
std::optional<Dims> common_refinement(const Dims& a, const Dims& b) {
  std::set<std::int64_t> ends{1};
  for (const Dims* dims : {&a, &b}) {
    std::int64_t product = 1;
    for (const std::int64_t extent : *dims) ends.insert(product *= extent);
  }
  Dims refined;
  for (auto end = std::next(ends.begin()); end != ends.end(); ++end) {
    if (*end % *std::prev(end) != 0) return {};
    refined.push_back(*end / *std::prev(end));
  }
  return refined;
}

/// Moves the values once, directly into the order in which the new dims are stored (NHWC for an
/// image). Empty if the dims have no common refinement that is a view.
std::optional<View> moved_into(LayerEmitter& emitter, const View& x, const Dims& dims) {
  const auto refined = common_refinement(x.dims, dims);
  const auto view = refined ? reshape(x, *refined) : std::nullopt;
  if (!view) return {};
  std::vector<std::vector<std::size_t>> refined_axes;  // by new axis
  std::size_t next = 0;
  for (const std::int64_t extent : dims) {
    std::vector<std::size_t>& of = refined_axes.emplace_back();
    for (std::int64_t product = 1; product < extent; ++next) {
      product *= (*refined)[next];
      of.push_back(next);
    }
  }
  std::vector<std::size_t> order;
  for (const std::size_t axis : memory_order(dims.size())) {
    order.insert(order.end(), refined_axes[axis].begin(), refined_axes[axis].end());
  }
  return dense_view(emitter.dense(*view, order).base, dims, memory_order(dims.size()));
}

}  // namespace

View reshape_to(LayerEmitter& emitter, const View& x, const Dims& dims) {
  if (const auto view = reshape(x, dims)) return *view;
  if (const auto moved = moved_into(emitter, x, dims)) return *moved;
  std::vector<std::size_t> own(x.rank());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = i;
  return reshape(emitter.dense(x, own), dims).value();
}

namespace {

Views identity(LayerEmitter&, const Node& node) { return {node.input(0)}; }

Views dropout(LayerEmitter&, const Node& node) {
  const bool drops_none = node.has(1) && node.floats(1) == std::vector<float>{0};
  const bool training = node.has(2) && node.integers(2) != std::vector<std::int64_t>{0};
  if (training && !drops_none) node.fail("is in training mode: export the network for inference");
  return {node.input(0)};
}

Views transposed(LayerEmitter&, const Node& node) {
  const View& x = node.input(0);
  std::vector<std::size_t> axes;
  if (const auto perm = node.integer_list("perm")) {
    for (const std::int64_t axis : *perm) axes.push_back(node.axis(axis, x.rank()));
    std::vector<std::size_t> sorted = axes;
    std::ranges::sort(sorted);
    const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
    if (axes.size() != x.rank() || twice) node.fail("its perm must name each axis once");
  } else {
    for (std::size_t i = x.rank(); i-- > 0;) axes.push_back(i);
  }
  return {transpose(x, axes)};
}

Views reshape_node(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  Dims dims = node.has(1) ? node.integers(1) : node.integer_list("shape").value_or(Dims{});
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zero_is_zero) {
      if (i >= x.rank()) node.fail("keeps an extent that its input does not have");
      dims[i] = x.dims[i];
    }
    if (dims[i] == -1) {
      if (open) node.fail("leaves two extents open");
      open = i;
    } else if (dims[i] < 1 || dims[i] > kMaxExtent || known > kMaxExtent) {
      node.fail("an extent of " + std::to_string(dims[i]) + " cannot be");
    } else {
      known *= dims[i];
    }
  }
  const std::int64_t all = elements(x.dims);
  if (open) {
    if (all % known != 0) node.fail("its extents do not divide " + std::to_string(all) + " values");
    dims[*open] = all / known;
  }
  return {reshape_to(emitter, x, dims)};
}

Views flatten(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::int64_t given = node.integer("axis", 1);
  const std::size_t axis =
      given == static_cast<std::int64_t>(x.rank()) ? x.rank() : node.axis(given, x.rank());
  const auto split = x.dims.begin() + static_cast<std::ptrdiff_t>(axis);
  return {reshape_to(emitter, x,
                     {elements(Dims(x.dims.begin(), split)), elements(Dims(split, x.dims.end()))})};
}

std::vector<std::int64_t> axes_of(const Node& node) {
  if (node.has(1)) return node.integers(1);
  return node.integer_list("axes").value_or(std::vector<std::int64_t>());
}

Views squeeze(LayerEmitter&, const Node& node) {
  View x = node.input(0);
  std::vector<bool> gone(x.rank(), false);
  const std::vector<std::int64_t> axes = axes_of(node);
  for (const std::int64_t axis : axes) gone[node.axis(axis, x.rank())] = true;
  for (std::size_t i = 0; axes.empty() && i < x.rank(); ++i) gone[i] = x.dims[i] == 1;
  for (std::size_t i = gone.size(); i-- > 0;) {
    if (!gone[i]) continue;
    if (x.dims[i] != 1) node.fail("removes an axis of extent " + std::to_string(x.dims[i]));
    x = remove_axis(x, i);
  }
  return {x};
}

Views unsqueeze(LayerEmitter&, const Node& node) {
  View x = node.input(0);
  const std::vector<std::int64_t> axes = axes_of(node);
  std::vector<std::size_t> added;
  for (const std::int64_t axis : axes) added.push_back(node.axis(axis, x.rank() + axes.size()));
  elements(Dims(x.rank() + added.size(), 1));  // throws if there are too many
  std::ranges::sort(added);
  if (std::ranges::adjacent_find(added) != added.end()) node.fail("adds an axis twice");
  for (const std::size_t axis : added) x = insert_axis(x, axis);
  return {x};
}

/// Slices one axis by ONNX's rules for negative and clamped bounds.
View sliced(const Node& node, const View& x, std::size_t axis, std::int64_t start, std::int64_t end,
            std::int64_t step) {
  if (step == 0) node.fail("has a step of 0");
  const std::int64_t extent = x.dims[axis];
  const auto from_end = [extent](std::int64_t at) { return at < 0 ? at + extent : at; };
  start = from_end(std::max(start, -kMaxBytes));
  end = from_end(std::max(end, -kMaxBytes));
  std::int64_t count = 0;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, extent);
    end = std::clamp<std::int64_t>(end, 0, extent);
    if (end > start) count = (end - start - 1) / std::min(step, kMaxExtent) + 1;
  } else {
    start = std::clamp<std::int64_t>(start, -1, extent - 1);
    end = std::clamp<std::int64_t>(end, -1, extent - 1);
    if (start > end)
      count = (start - end - 1) / std::min(-std::max(step, -kMaxExtent), kMaxExtent) + 1;
  }
  step = std::clamp(step, -kMaxExtent, kMaxExtent);
  return slice(x, axis, start, count, step);
}

Views slice_node(LayerEmitter&, const Node& node) {
  View x = node.input(0);
  const auto list = [&](std::size_t input, const char* attribute) -> std::vector<std::int64_t> {
    if (node.has(input)) return node.integers(input);
    return node.integer_list(attribute).value_or(std::vector<std::int64_t>());
  };
  const auto starts = list(1, "starts"), ends = list(2, "ends");
  auto axes = list(3, "axes");
  const auto steps = node.has(4) ? node.integers(4) : std::vector<std::int64_t>();
  if (axes.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (starts.size() != ends.size() || axes.size() != starts.size() ||
      (!steps.empty() && steps.size() != starts.size())) {
    node.fail("has starts, ends, axes and steps of different lengths");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    x = sliced(node, x, node.axis(axes[i], x.rank()), starts[i], ends[i],
               steps.empty() ? 1 : steps[i]);
  }
  return {x};
}

Views split(LayerEmitter&, const Node& node) {
  const View& x = node.input(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  std::vector<std::int64_t> sizes =
      node.has(1) ? node.integers(1)
                  : node.integer_list("split").value_or(std::vector<std::int64_t>());
  const auto count = static_cast<std::int64_t>(node.output_count());
  if (count == 0) node.fail("has no output");
  if (node.integer("num_outputs", count) != count) {
    node.fail("its num_outputs is not the number of its outputs, " + std::to_string(count));
  }
  if (sizes.empty()) {  // evenly; the last may be smaller
    const std::int64_t each = (x.dims[axis] + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) {
      sizes.push_back(std::clamp<std::int64_t>(x.dims[axis] - i * each, 0, each));
    }
  }
  std::int64_t at = 0;
  Views views;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > x.dims[axis] - at) node.fail("splits more than there is");
    views.push_back(slice(x, axis, at, size, 1));
    at += size;
  }
  if (at != x.dims[axis] || sizes.size() < node.output_count())
    node.fail("splits less than there is");
  return views;
}

Views expand_node(LayerEmitter&, const Node& node) {
  const View& x = node.input(0);
  Dims dims = node.integers(1);
  // Extents of 1 in the wanted dims keep the input's extents.
  const std::size_t rank = std::max(dims.size(), x.rank());
  dims.insert(dims.begin(), rank - dims.size(), 1);
  for (std::size_t i = 0; i < x.rank(); ++i) {
    std::int64_t& extent = dims[rank - x.rank() + i];
    if (extent == 1) extent = x.dims[i];
  }
  return {expand(x, dims)};
}

Views tile(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  const std::vector<std::int64_t> repeats = node.integers(1);
  if (repeats.size() != x.rank()) node.fail("needs a number of repeats for each axis");
  View wide = x;
  Dims doubled, dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (repeats[i] < 1 || repeats[i] > kMaxExtent) node.fail("repeats must be 1 or more");
    wide = insert_axis(wide, 2 * i);
    doubled.push_back(repeats[i]);
    doubled.push_back(x.dims[i]);
    dims.push_back(repeats[i] * x.dims[i]);
  }
  return {reshape_to(emitter, expand(wide, doubled), dims)};
}

View image_of(const Node& node) {
  if (node.input(0).rank() != 4) node.fail("takes four dimensions");
  return node.input(0);
}

/// Returns true for the order of channels CRD (column, row, depth), false for DCR.
bool is_column_row_depth(const Node& node) {
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    node.fail("its mode '" + printable(mode, 40) + "' is not computed");
  }
  return mode == "CRD";
}

Views depth_to_space(LayerEmitter& emitter, const Node& node) {
  const View x = image_of(node);
  const std::int64_t b = node.integer("blocksize", 0), c = x.dims[1];
  if (b < 1 || b > 65536 || c % (b * b) != 0)
    node.fail("its blocksize does not divide its channels");
  const bool column_row = is_column_row_depth(node);
  const Dims cut = column_row ? Dims{x.dims[0], c / (b * b), b, b, x.dims[2], x.dims[3]}
                              : Dims{x.dims[0], b, b, c / (b * b), x.dims[2], x.dims[3]};
  static constexpr std::size_t kColumnRow[] = {0, 1, 4, 2, 5, 3}, kDepth[] = {0, 3, 4, 1, 5, 2};
  const View six = reshape_to(emitter, x, cut);
  return {reshape_to(emitter, transpose(six, column_row ? kColumnRow : kDepth),
                     {x.dims[0], c / (b * b), x.dims[2] * b, x.dims[3] * b})};
}

Views space_to_depth(LayerEmitter& emitter, const Node& node) {
  const View x = image_of(node);
  const std::int64_t b = node.integer("blocksize", 0);
  if (b < 1 || x.dims[2] % b != 0 || x.dims[3] % b != 0) {
    node.fail("its blocksize does not divide height and width");
  }
  const View six =
      reshape_to(emitter, x, {x.dims[0], x.dims[1], x.dims[2] / b, b, x.dims[3] / b, b});
  static constexpr std::size_t kColumnRow[] = {0, 1, 3, 5, 2, 4}, kDepth[] = {0, 3, 5, 1, 2, 4};
  return {reshape_to(emitter, transpose(six, is_column_row_depth(node) ? kColumnRow : kDepth),
                     {x.dims[0], x.dims[1] * b * b, x.dims[2] / b, x.dims[3] / b})};
}

}  // namespace

void add_moves(Operators& operators) {
  operators["Identity"].emit = identity;
  // Both are for training; before opset 7, is_test said that there is none.
  operators["Dropout"] = {.emit = dropout,
                          .attributes = {.unread = {{"ratio"}, {"seed"}, {"is_test", {1}}}}};
  operators["Transpose"] = {.emit = transposed, .attributes = {.read = {"perm"}}};
  operators["Reshape"] = {.emit = reshape_node, .attributes = {.read = {"allowzero", "shape"}}};
  operators["Flatten"] = {.emit = flatten, .attributes = {.read = {"axis"}}};
  operators["Squeeze"] = {.emit = squeeze, .attributes = {.read = {"axes"}}};
  operators["Unsqueeze"] = {.emit = unsqueeze, .attributes = {.read = {"axes"}}};
  operators["Slice"] = {.emit = slice_node, .attributes = {.read = {"axes", "ends", "starts"}}};
  operators["Split"] = {.emit = split, .attributes = {.read = {"axis", "num_outputs", "split"}}};
  operators["Expand"].emit = expand_node;
  operators["Tile"].emit = tile;
  operators["DepthToSpace"] = {.emit = depth_to_space,
                               .attributes = {.read = {"blocksize", "mode"}}};
  operators["SpaceToDepth"] = {.emit = space_to_depth,
                               .attributes = {.read = {"blocksize", "mode"}}};
}

}  // namespace hios::onnx
