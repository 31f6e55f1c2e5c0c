// Part of hios/onnx/operators/families.h: pools over windows and over whole images.
#include "hios/model/infer_shape.h"
#include "hios/onnx/operators/families.h"
#include "hios/onnx/operators/windows.h"

namespace hios::onnx {
namespace {

Views pool(LayerEmitter& emitter, const Node& node) {
  const std::size_t rank = node.input(0).rank();
  Pool layer;
  layer.kind = node.type() == "MaxPool" ? Pool::Kind::kMax : Pool::Kind::kAverage;
  if (rank == 5) return {pool_volume(emitter, node, layer)};
  const View x = as_image(emitter, node.input(0));
  const Window window = window_of(node, rank, {x.dims[2], x.dims[3]}, {});
  set_window(layer, window);
  layer.ceil = node.integer("ceil_mode", 0) != 0;
  layer.count_padding = layer.kind == Pool::Kind::kAverage &&
                        node.integer("count_include_pad", 0) != 0 && layer.padding != Padding{};
  const LayerInput image = emitter.image(x);
  const Shape out = infer_shape(layer, {&image.shape, 1});
  Views outputs{as_rank(emitter.emit(layer, {image}, {out.n, out.c, out.h, out.w}), rank)};
  const bool by_columns = layer.kind == Pool::Kind::kMax && node.integer("storage_order", 0) != 0;
  if (node.wants_output(1) && has_exact_positions(x.dims)) {
    outputs.push_back(
        as_rank(pool_positions(emitter, x, window, {out.h, out.w}, by_columns), rank));
  }
  return outputs;
}

Views global_pool(LayerEmitter& emitter, const Node& node) {
  if (node.input(0).rank() > 4) {
    std::vector<bool> axes(node.input(0).rank(), true);
    axes[0] = axes[1] = false;
    return {reduce_along(
        emitter, node.input(0),
        node.type() == "GlobalMaxPool" ? Reduce::Function::kMax : Reduce::Function::kMean, axes)};
  }
  const View x = as_image(emitter, node.input(0));
  const Dims dims{x.dims[0], x.dims[1], 1, 1};
  const LayerKind kind = node.type() == "GlobalMaxPool"
                             ? LayerKind(Reduce{Reduce::Function::kMax, {.h = true, .w = true}})
                             : LayerKind(GlobalAveragePool{});
  return {as_rank(emitter.emit(kind, {emitter.image(x)}, dims), node.input(0).rank())};
}

}  // namespace

void add_pools(Operators& operators) {
  operators["MaxPool"] = {
      .emit = pool, .attributes = {.read = window_attributes({"ceil_mode", "storage_order"})}};
  operators["AveragePool"] = {
      .emit = pool, .attributes = {.read = window_attributes({"ceil_mode", "count_include_pad"})}};
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool"})
    operators[type].emit = global_pool;
}

}  // namespace hios::onnx
