#include "cli/run/export_onnx.h"

#include "cli/flags/model_flags.h"
#include "cli/process/output.h"
#include "engine/backend/tensor_source.h"
#include "hios/base/error.h"
#include "hios/base/files/file_io.h"
#include "hios/onnx/write/export.h"
#include "mpi/session/agreement.h"

namespace hios::cli {
namespace {

ModelWeights::Values drawn(const Model& model, const Layer& layer, TensorSource& source) {
  const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
  ModelWeights::Values values;
  values.weights.resize(static_cast<std::size_t>(counts.weights));
  values.bias.resize(static_cast<std::size_t>(counts.bias));
  if (counts.weights > 0) source.weights(model, layer, values.weights);
  if (counts.bias > 0) source.bias(model, layer, values.bias);
  return values;
}

/// Throws InputError where a flag of runs is given, since nothing runs.
void refuse_flags_of_runs(const Flags& flags) {
  const std::vector<std::string> others = flags.written_except(
      {"export-onnx", "model", "batch", "height", "width", "dim", "seed", "force", "max-input",
       "quiet", "verbose", "flight-record", "oversubscribe"});
  if (others.empty()) return;
  throw InputError("--export-onnx writes the model and runs nothing: leave out --" +
                   others.front());
}

/// Throws InputError where the message of the file and its bytes, which are in memory together, do
/// not fit. Only one rank of the host writes, so it may take the shares of all.
void require_writable_memory(const Model& model, const std::string& file,
                             std::optional<Bytes> share, std::size_t ranks) {
  ReadLimits all;
  if (share) all.memory = *share * ranks;
  const auto weights = static_cast<Bytes>(model.parameters()) * sizeof(float);
  require_available(printable(file, 200) + ": writing it takes", 2 * weights, all);
}

}  // namespace

int export_onnx(const Flags& flags, mpi::Transport& transport, std::optional<Bytes> memory) {
  const bool first = transport.rank() == Rank(0);
  const std::string file = flags.text("export-onnx");
  Common common;
  const Model model = mpi::agreed(transport, [&] {
    refuse_flags_of_runs(flags);
    common = read_common(flags, !first);
    common.limits.memory = memory;
    Model read = load_model(flags.text("model"), read_input_size(flags), common.limits);
    onnx::check_exportable(read);
    if (first) {
      check_writable(file, common.existing);
      require_writable_memory(read, file, memory, transport.local_size());
    }
    return read;
  });
  if (!first) return 0;
  SeededSource source(common.seed);
  write_after_work([&] {
    onnx::export_model(
        model, [&](const Layer& layer) { return drawn(model, layer, source); }, file,
        common.existing);
  });
  return 0;
}

}  // namespace hios::cli
