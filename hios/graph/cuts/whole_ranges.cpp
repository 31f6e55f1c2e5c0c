#include "hios/graph/cuts/whole_ranges.h"

#include "hios/graph/cuts/layer_range.h"

// Tests: tests/engine/cut_whole_test.cpp.

namespace hios {
namespace {

/// Returns the range that a slice takes of a range, by the offset of its first value.
AxisRange sliced(const Move& slice, const Shape& input, const AxisRange& from) {
  const bool channels = slice.output.c != input.c;
  const Axis axis = channels ? Axis::kC : Axis::kH;
  const std::int64_t skipped = channels ? slice.offset : slice.offset / (input.w * input.c);
  const std::int64_t begin = (from.axis == axis ? from.begin : 0) + skipped;
  return {axis, begin, begin + (channels ? slice.output.c : slice.output.h)};
}

}  // namespace

std::vector<WholeRange> whole_ranges(const Model& model) {
  const Model& whole = *model.whole();
  const auto all_of = [&](TensorId id) {
    return WholeRange{id, whole_range(whole.tensor(id).shape, Axis::kH)};
  };
  std::vector<WholeRange> ranges(model.tensors().size());
  ranges[model.input().index()] = all_of(whole.input());
  for (const Layer& layer : model.layers()) {
    WholeRange& made = ranges[layer.output.index()];
    const WholeRange& first = ranges[layer.inputs.front().index()];
    if (layer.origin) {
      made = all_of(whole.layer(*layer.origin).output);
      if (layer.range) made.range = *layer.range;
    } else if (const Move* const slice = std::get_if<Move>(&layer.kind)) {
      made = {first.tensor, sliced(*slice, layer.input_shapes.front(), first.range)};
    } else {  // a join
      const AxisRange& last = ranges[layer.inputs.back().index()].range;
      made = {first.tensor, {first.range.axis, first.range.begin, last.end}};
    }
  }
  return ranges;
}

std::vector<float> values_in(std::span<const float> whole, const Shape& shape,
                             const AxisRange& range) {
  const std::int64_t unit = range.axis == Axis::kC ? 1 : shape.w * shape.c;
  const std::int64_t line = unit * whole_range(shape, range.axis).count();
  std::vector<float> values;
  for (auto at = range.begin * unit; at < std::ssize(whole); at += line) {
    values.insert(values.end(), whole.begin() + at, whole.begin() + at + range.count() * unit);
  }
  return values;
}

}  // namespace hios
