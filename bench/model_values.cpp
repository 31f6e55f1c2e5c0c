// Writes the values of a model's run, for bench/gpu/check_torch.py: the weights and biases of its
// convolutions in the order of its layers, its input, and its outputs by the reference backend. Raw
// fp32; weights OIHW, images NHWC. A tool and no study: it measures nothing.
//   model_values MODEL.json FOLDER

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "engine/backend/tensor_source.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/base/error.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model_json.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

class Values {
 public:
  explicit Values(const fs::path& file) : file_(file.string()), out_(file, std::ios::binary) {}
  void add(const std::vector<float>& values) {
    out_.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!out_) throw RunError("cannot write " + file_);
  }

 private:
  std::string file_;
  std::ofstream out_;
};

void write_parameters(const Model& model, TensorSource& source, const fs::path& file) {
  Values out(file);
  for (const Layer& layer : model.layers()) {
    const Conv* const conv = std::get_if<Conv>(&layer.kind);
    if (!conv) continue;
    const auto total = static_cast<std::size_t>(parameters(layer.kind, layer.input_shapes));
    const std::size_t biases = conv->bias ? static_cast<std::size_t>(conv->out_channels) : 0;
    std::vector<float> weights(total - biases), bias(biases);
    source.weights(model, layer, weights);
    if (conv->bias) source.bias(model, layer, bias);
    out.add(weights);
    out.add(bias);
  }
}

void write_values(const Model& model, const fs::path& folder) {
  SeededSource source(0);
  fs::create_directories(folder);
  write_parameters(model, source, folder / "parameters.bin");
  std::vector<float> input(static_cast<std::size_t>(model.tensor(model.input()).shape.elements()));
  source.input(model, input);
  Values(folder / "input.bin").add(input);

  const CoarseGraph coarse = coarsen(model);
  const auto backend = reference::make_backend({});
  const job::OneRankRun run(coarse, model, *backend, std::vector<int>(coarse.graph.size(), 1),
                            source, "");
  Values outputs(folder / "outputs.bin");
  for (const TensorId id : model.outputs()) outputs.add(run.output(*coarse.producer(id)));
}

}  // namespace
}  // namespace hios

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw hios::InputError("usage: model_values MODEL.json FOLDER");
    const hios::Json json = hios::read_json(argv[1]);
    hios::write_values(hios::model_from_json(hios::JsonView(json, argv[1])), argv[2]);
    return 0;
  } catch (const hios::InputError& error) {
    std::fprintf(stderr, "model_values: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_values: %s\n", error.what());
    return 3;
  }
}
