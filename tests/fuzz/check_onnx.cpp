// Part of tests/fuzz/checks.h: ONNX files.

#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fuzz/reading.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model_json.h"
#include "hios/onnx/read/import.h"
#include "support/layers/onnx_seeds.h"

namespace hios::test {
namespace {

/// Bytes as a file in memory, outside any folder.
class FileInMemory {
 public:
  explicit FileInMemory(std::string_view bytes) : number_(memfd_create("onnx", MFD_CLOEXEC)) {
    if (number_ < 0 ||
        write(number_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("no file in memory");
    }
  }
  ~FileInMemory() { close(number_); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  std::string name() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

}  // namespace

int check_onnx(std::string_view bytes) {
  constexpr Bytes kMaxBytesRead = 1 << 20;
  if (bytes.empty()) return 0;  // nothing to read
  const FileInMemory file(bytes);
  onnx::ImportOptions options;
  options.limits.max_weights_bytes = kMaxBytesRead;
  try {
    const Model model = onnx::import_model(file.name(), options);
    const CoarseGraph coarse = coarsen(model);
    promise(coarse.graph.size() <= model.layers().size(), "more operators than layers");
    for (const Layer& layer : model.layers()) {
      const ParameterCounts wanted = parameter_counts(layer.kind, layer.input_shapes);
      const ModelWeights::Values* values = model.weights()->find(layer.name);
      const std::size_t weights = values ? values->weights.size() : 0;
      const std::size_t bias = values ? values->bias.size() : 0;
      promise(weights == static_cast<std::size_t>(wanted.weights),
              "another number of weights than the layer needs");
      promise(bias == static_cast<std::size_t>(wanted.bias),
              "another number of biases than the layer needs");
    }
    const std::string written = to_text(to_json(model));
    const Json json = parse_json(written, "written.json");
    promise(to_text(to_json(model_from_json(JsonView(json, "written.json")))) == written,
            "differs when it is written and read: " + written);
  } catch (const InputError& error) {
    promise_a_line(error.what());
  }
  return 0;
}

}  // namespace hios::test
