// Part of hios/onnx/write/export.h: a build that writes no ONNX files.
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/onnx/write/export.h"

namespace hios::onnx {

void check_exportable(const Model& model) {
  throw InputError("model '" + printable(model.name()) + "': this build writes no ONNX files",
                   need::OnnxWriter{});
}

void export_model(const Model& model, const LayerValues&, const std::filesystem::path&, Existing) {
  check_exportable(model);
}

}  // namespace hios::onnx
