// Part of hios/onnx/read/import.h: a build that reads no ONNX files.
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/onnx/read/import.h"

namespace hios::onnx {

Model import_model(const std::filesystem::path& file, const ImportOptions&) {
  throw InputError(printable(file.string(), 200) + ": this build reads no ONNX files",
                   need::OnnxReader{});
}

std::vector<std::filesystem::path> external_files(const std::filesystem::path&, const ReadLimits&) {
  return {};
}

bool can_import() { return false; }

}  // namespace hios::onnx
