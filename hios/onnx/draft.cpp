#include "hios/onnx/draft.h"

#include <utility>

namespace hios::onnx {

DraftId Draft::add(DraftLayer layer) {
  layer.output = DraftId(tensors.size());
  tensors.push_back({infer_shape(layer.kind, layer.input_shapes), layers.size()});
  layers.push_back(std::move(layer));
  return layers.back().output;
}

}  // namespace hios::onnx
