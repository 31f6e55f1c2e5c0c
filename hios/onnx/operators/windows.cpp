#include "hios/onnx/operators/windows.h"

#include <algorithm>

namespace hios::onnx {
namespace {

/// Reads an attribute of one (images of height 1) or two extents.
Extent extent(const Node& node, const char* attribute, std::size_t spatial, const Extent& or_else,
              std::int64_t least) {
  const auto list = node.integer_list(attribute);
  if (!list) return or_else;
  const bool in_range = std::ranges::all_of(
      *list, [&](std::int64_t value) { return value >= least && value <= kMaxExtent; });
  if (list->size() != spatial || !in_range) {
    node.fail(std::string("its ") + attribute + " must be " + std::to_string(spatial) +
              " numbers of at least " + std::to_string(least));
  }
  return spatial == 1 ? Extent{least, list->front()} : Extent{(*list)[0], (*list)[1]};
}

/// Returns the padding of SAME_UPPER or SAME_LOWER before and after an axis.
std::pair<std::int64_t, std::int64_t> same(std::int64_t in, std::int64_t kernel,
                                           std::int64_t stride, std::int64_t dilation, bool upper) {
  const std::int64_t out = (in + stride - 1) / stride;
  const std::int64_t all =
      std::max<std::int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
  const std::int64_t less = all / 2;
  return upper ? std::pair(less, all - less) : std::pair(all - less, less);
}

Padding explicit_padding(const Node& node, std::size_t spatial) {
  const auto pads = node.integer_list("pads");
  if (!pads) return {};
  for (const std::int64_t value : *pads) {
    if (value < 0 || value > kMaxExtent) node.fail("its pads must be 0 or more");
  }
  if (pads->size() != 2 * spatial) node.fail("its pads must be " + std::to_string(2 * spatial));
  if (spatial == 1) return {Extent{0, (*pads)[0]}, Extent{0, (*pads)[1]}};
  return {Extent{(*pads)[0], (*pads)[1]}, Extent{(*pads)[2], (*pads)[3]}};
}

}  // namespace

View as_image(const LayerEmitter& emitter, const View& view) {
  if (view.rank() == 4) return view;
  if (view.rank() == 3) return insert_axis(view, 2);
  emitter.fail("works on three or four dimensions here, not on " + std::to_string(view.rank()));
}

View as_rank(const View& image, std::size_t rank) {
  return rank == 3 ? remove_axis(image, 2) : image;
}

std::vector<std::string_view> window_attributes(std::vector<std::string_view> more) {
  more.insert(more.end(), {"auto_pad", "dilations", "kernel_shape", "pads", "strides"});
  return more;
}

Window window_of(const Node& node, std::size_t rank, const Extent& input,
                 std::optional<Extent> kernel) {
  const std::size_t spatial = rank - 2;
  if (!kernel && !node.has_attribute("kernel_shape")) node.fail("lacks its kernel_shape");
  Window window;
  window.kernel = extent(node, "kernel_shape", spatial, kernel.value_or(Extent{}), 1);
  window.stride = extent(node, "strides", spatial, {}, 1);
  window.dilation = extent(node, "dilations", spatial, {}, 1);
  if (kernel && window.kernel != *kernel) node.fail("its kernel_shape is not that of its weights");
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    window.padding = explicit_padding(node, spatial);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    const bool upper = mode == "SAME_UPPER";
    const auto h = same(input.h, window.kernel.h, window.stride.h, window.dilation.h, upper);
    const auto w = same(input.w, window.kernel.w, window.stride.w, window.dilation.w, upper);
    window.padding = {Extent{h.first, w.first}, Extent{h.second, w.second}};
  } else if (mode != "VALID") {
    node.fail("its auto_pad is unknown");
  }
  return window;
}

}  // namespace hios::onnx
