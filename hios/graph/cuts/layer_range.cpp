#include "hios/graph/cuts/layer_range.h"

#include <algorithm>
#include <optional>

#include "hios/base/error.h"

namespace hios {
namespace {

std::int64_t extent(const Shape& shape, Axis axis) { return axis == Axis::kC ? shape.c : shape.h; }

InputError not_cut(const LayerKind& kind, std::string_view by) {
  return InputError(std::string(onnx_type(kind)) + " is not computed " + std::string(by) + " by " +
                    std::string(by) + ", or not cut yet");
}

/// The rows that a window reads, and those outside the image that it counts.
struct WindowRows {
  AxisRange reads;
  std::int64_t above = 0, below = 0;
};

template <class Window>
WindowRows window_rows(const Window& window, std::int64_t height, const AxisRange& rows) {
  const std::int64_t first = rows.begin * window.stride.h - window.padding.begin.h;
  const std::int64_t end = (rows.end - 1) * window.stride.h - window.padding.begin.h +
                           (window.kernel.h - 1) * window.dilation.h + 1;
  const WindowRows read{{Axis::kH, std::max<std::int64_t>(first, 0), std::min(end, height)},
                        std::max<std::int64_t>(-first, 0),
                        std::max<std::int64_t>(end - height, 0)};
  if (read.reads.count() < 1) throw InputError("its rows " + to_string(rows) + " are padding only");
  return read;
}

/// A layer's kind for a range, and the range of its inputs; empty: all of each.
struct KindOnRange {
  LayerKind kind;
  std::optional<AxisRange> reads;
};

struct OnRows {
  const Shape& input;
  const AxisRange& rows;

  KindOnRange operator()(const Conv& whole) const {
    Conv conv = whole;
    const WindowRows read = window_rows(whole, input.h, rows);
    conv.padding.begin.h = read.above;
    conv.padding.end.h = read.below;
    return {conv, read.reads};
  }
  KindOnRange operator()(const Pool& whole) const {
    Pool pool = whole;
    const WindowRows read = window_rows(whole, input.h, rows);
    if (whole.count_padding && read.below > whole.padding.end.h) {
      throw InputError("its last window reaches beyond the padding that it counts");
    }
    pool.padding.begin.h = read.above;
    pool.padding.end.h = read.below;
    return {pool, read.reads};
  }
  KindOnRange operator()(const Relu& kind) const { return {kind, rows}; }
  KindOnRange operator()(const Sum& kind) const { return {kind, rows}; }
  KindOnRange operator()(const TopK& kind) const { return {kind, rows}; }
  KindOnRange operator()(const Unary& kind) const { return {kind, rows}; }
  KindOnRange operator()(const Concat& kind) const {
    if (kind.axis == Axis::kH) throw InputError("it joins rows");
    return {kind, rows};
  }
  KindOnRange operator()(const Binary& kind) const {
    if (kind.constant && kind.constant->h != 1) throw InputError("its constant differs by row");
    return {kind, rows};
  }
  KindOnRange operator()(const Gather& kind) const {
    if (!kind.table) throw InputError("its table is computed");
    return {kind, rows};
  }
  KindOnRange operator()(const auto& kind) const { throw not_cut(kind, "row"); }
};

struct OnChannels {
  const Shape& input;
  const AxisRange& channels;

  KindOnRange operator()(const Conv& whole) const {
    Conv conv = whole;
    conv.out_channels = channels.count();
    if (whole.groups == 1) return {conv, {}};
    const std::int64_t made = whole.out_channels / whole.groups, read = input.c / whole.groups;
    if (channels.begin % made != 0 || channels.end % made != 0) {
      throw InputError("its groups have " + std::to_string(made) +
                       " channels each: shards begin at multiples of them");
    }
    const std::int64_t first = channels.begin / made, end = channels.end / made;
    conv.groups = end - first;
    return {conv, AxisRange{Axis::kC, first * read, end * read}};
  }
  KindOnRange operator()(const Binary& whole) const {
    Binary binary = whole;
    if (binary.constant && binary.constant->c != 1) binary.constant->c = channels.count();
    return {binary, channels};
  }
  KindOnRange operator()(const Pool& kind) const { return {kind, channels}; }
  KindOnRange operator()(const GlobalAveragePool& kind) const { return {kind, channels}; }
  KindOnRange operator()(const Relu& kind) const { return {kind, channels}; }
  KindOnRange operator()(const Sum& kind) const { return {kind, channels}; }
  KindOnRange operator()(const Unary& kind) const { return {kind, channels}; }
  KindOnRange operator()(const Concat& kind) const {
    if (kind.axis == Axis::kC) throw InputError("it joins channels");
    return {kind, channels};
  }
  /// Each shard has its columns of the table, and reads all indices.
  KindOnRange operator()(const Gather& whole) const {
    if (!whole.table) throw InputError("its table is computed");
    if (input.c != 1) throw InputError("its channels are those of several rows");
    Gather gather = whole;
    gather.table->c = channels.count();
    return {gather, {}};
  }
  KindOnRange operator()(const auto& kind) const { throw not_cut(kind, "channel"); }
};

KindOnRange kind_on_range(const Layer& layer, const AxisRange& range) {
  const Shape& input = layer.input_shapes.front();
  return range.axis == Axis::kC ? std::visit(OnChannels{input, range}, layer.kind)
                                : std::visit(OnRows{input, range}, layer.kind);
}

}  // namespace

std::string to_string(const AxisRange& range) {
  return std::string(range.axis == Axis::kC ? "channels " : "") + '[' +
         std::to_string(range.begin) + ", " + std::to_string(range.end) + ')';
}

AxisRange whole_range(const Shape& shape, Axis axis) { return {axis, 0, extent(shape, axis)}; }

LayerOnRange on_range(const Model& model, const Layer& layer, const AxisRange& range) {
  if (!layer.merged.empty()) throw InputError("it is several convolutions");
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    if (layer.input_shapes[i] != model.tensor(layer.inputs[i]).shape) {
      throw InputError("it reads a tensor in another shape");
    }
  }
  const bool all = range == whole_range(model.tensor(layer.output).shape, range.axis);
  const KindOnRange made = all ? KindOnRange{layer.kind, {}} : kind_on_range(layer, range);
  LayerOnRange result{made.kind, {}};
  const bool repeats = std::holds_alternative<Binary>(layer.kind);
  for (const Shape& input : layer.input_shapes) {
    const AxisRange of_input = whole_range(input, range.axis);
    const bool in_part = made.reads && !(repeats && of_input.count() == 1);
    result.reads.push_back(in_part ? *made.reads : of_input);
  }
  return result;
}

}  // namespace hios
