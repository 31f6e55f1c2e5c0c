// Layers that move values and compute nothing.
#include "engine/cuda/operators/single/single.h"
#include "engine/cuda/operators/single/views.h"

namespace hios::cuda {
namespace {

/// Returns the number of values from a position of an axis to the next one.
std::int64_t axis_stride(const Shape& shape, Axis axis) {
  switch (axis) {
    case Axis::kN:
      return shape.h * shape.w * shape.c;
    case Axis::kH:
      return shape.w * shape.c;
    case Axis::kW:
      return shape.c;
    case Axis::kC:
      break;
  }
  return 1;
}

std::int64_t axis_extent(const Shape& shape, Axis axis) {
  switch (axis) {
    case Axis::kN:
      return shape.n;
    case Axis::kH:
      return shape.h;
    case Axis::kW:
      return shape.w;
    case Axis::kC:
      break;
  }
  return shape.c;
}

}  // namespace

BoundLayer bind_single(const Binding& binding, const Layer&, const Move& layer) {
  CopyTask task;
  task.element = binding.element();
  task.from = binding.inputs[InputIndex(0)].data;
  task.to = binding.output;
  task.values = count_of(binding.output_shape());
  task.of_from = view_of(layer.dimensions, layer.offset);
  task.of_to = view_of({{task.values, 1}});
  return make_launches<CopyTask>(binding, copy, {task});
}

BoundLayer bind_single(const Binding& binding, const Layer& layer, const Concat& concat) {
  const Shape& output = binding.output_shape();
  const std::int64_t stride = axis_stride(output, concat.axis);
  const std::int64_t whole = axis_extent(output, concat.axis) * stride;  // of the axis, and inside
  std::vector<CopyTask> tasks;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const Source part = binding.inputs[InputIndex(i)];
    const std::int64_t run = axis_extent(part.shape, concat.axis) * stride;
    CopyTask& task = tasks.emplace_back();
    task.element = binding.element();
    task.from = part.data;
    task.to = binding.output;
    task.values = count_of(part.shape);
    task.of_from = view_of({{task.values, 1}});
    task.of_to = view_of({{task.values / run, whole}, {run, 1}}, first);
    first += run;
  }
  return make_launches<CopyTask>(binding, copy, std::move(tasks));
}

BoundLayer bind_single(const Binding& binding, const Layer& layer, const Gather& kind) {
  GatherTask task;
  task.element = binding.element();
  task.indices = binding.inputs[InputIndex(0)].data;
  task.output = binding.output;
  task.values = count_of(binding.output_shape());
  std::vector<std::shared_ptr<const void>> kept;
  Shape table;
  if (kind.table) {
    const auto weights = binding.weights.get(*binding.operation.model, layer, binding.source);
    kept.push_back(weights);
    task.table = weights->weight_values();
    table = *kind.table;
  } else {
    const Source computed = binding.inputs[InputIndex(1)];
    task.table = computed.data;
    table = computed.shape;
  }
  task.columns = static_cast<int>(table.c);
  task.rows = static_cast<int>(table.elements() / table.c);
  return make_launches<GatherTask>(binding, gather, {task}, std::move(kept));
}

BoundLayer bind_single(const Binding& binding, const Layer&, const TopK& layer) {
  const Source input = binding.inputs[InputIndex(0)];
  TopTask task;
  task.element = binding.element();
  task.input = input.data;
  task.output = binding.output;
  task.values = count_of(input.shape);
  task.columns = static_cast<int>(input.shape.c);
  task.k = static_cast<int>(layer.k);
  task.largest = layer.largest;
  task.positions = layer.positions;
  return make_launches<TopTask>(binding, find_top, {task});
}

BoundLayer bind_single(const Binding& binding, const Layer&, const Pad& layer) {
  const auto fill = [](int(&to)[4], const Shape& shape) {
    to[0] = static_cast<int>(shape.n);
    to[1] = static_cast<int>(shape.h);
    to[2] = static_cast<int>(shape.w);
    to[3] = static_cast<int>(shape.c);
  };
  const Source input = binding.inputs[InputIndex(0)];
  PadTask task;
  task.element = binding.element();
  task.mode = layer.mode;
  task.value = layer.value;
  task.input = input.data;
  fill(task.in, input.shape);
  fill(task.begin, layer.begin);
  fill(task.out, binding.output_shape());
  task.output = binding.output;
  return make_launches<PadTask>(binding, pad, {task});
}

}  // namespace hios::cuda
