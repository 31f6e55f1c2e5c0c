// Part of hios/onnx/read/import.h and hios/onnx/write/export.h: a build that reads and writes no
// ONNX files.
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/onnx/read/import.h"
#include "hios/onnx/write/export.h"

namespace hios::onnx {

Model import_model(const std::filesystem::path& file, const ImportOptions&) {
  throw InputError(printable(file.string(), 200) + ": this build reads no ONNX files",
                   need::OnnxReader{});
}

bool can_import() { return false; }

void check_exportable(const Model& model) {
  throw InputError("model '" + printable(model.name()) + "': this build writes no ONNX files",
                   need::OnnxWriter{});
}

void export_model(const Model& model, const LayerValues&, const std::filesystem::path&, Existing) {
  check_exportable(model);
}

}  // namespace hios::onnx
