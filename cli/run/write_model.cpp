#include "cli/run/write_model.h"

#include <set>
#include <string_view>

#include "cli/flags/model_flags.h"
#include "cli/process/output.h"
#include "engine/backend/tensor_source.h"
#include "engine/cold/packed_parameters.h"
#include "hios/base/error.h"
#include "hios/base/files/file_io.h"
#include "hios/model/weights/weights_file.h"
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

/// A file that holds a model or its weights.
struct ModelFile {
  const char* flag;
  void (*check)(const Model&);
  void (*write)(const Model&, SeededSource&, const std::string&, Existing);
};

const ModelFile kFiles[] = {
    {"export-onnx", onnx::check_exportable,
     [](const Model& model, SeededSource& source, const std::string& file, Existing existing) {
       onnx::export_model(
           model, [&](const Layer& layer) { return drawn(model, layer, source); }, file, existing);
     }},
    {"write-weights", [](const Model&) {},
     [](const Model& model, SeededSource& source, const std::string& file, Existing existing) {
       write_weights(
           file, model, [&](const Layer& layer) { return drawn(model, layer, source); }, existing);
     }}};

/// Returns the only file that the flags ask for. Throws InputError where they ask for both.
const ModelFile& wanted_file(const Flags& flags) {
  if (!flags.given(kFiles[1].flag)) return kFiles[0];
  if (!flags.given(kFiles[0].flag)) return kFiles[1];
  throw InputError("--export-onnx and --write-weights each write one file: give one of them");
}

/// Throws InputError where a flag of runs is given, since nothing runs. Packed weights depend on
/// how operators are fused and computed.
void refuse_flags_of_runs(const Flags& flags, const ModelFile& wanted) {
  std::set<std::string_view> known{
      wanted.flag, "model",     "batch", "height",  "width",         "dim",          "seed",
      "force",     "max-input", "quiet", "verbose", "flight-record", "oversubscribe"};
  if (writes_packed(flags)) {
    known.insert(
        {"packed", "schedule", "profile", "fusion", "merge", "backend", "threads", "timeout"});
  }
  const std::vector<std::string> others = flags.written_except(known);
  if (others.empty()) return;
  throw InputError("--" + std::string(wanted.flag) +
                   " writes the model and runs nothing: leave out --" + others.front());
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

bool writes_packed(const Flags& flags) {
  return flags.given("packed") && flags.given("write-weights");
}

bool writes_model(const Flags& flags) {
  return flags.given(kFiles[0].flag) || flags.given(kFiles[1].flag);
}

int write_model(const Flags& flags, mpi::Transport& transport, std::optional<Bytes> memory) {
  const bool first = transport.rank() == Rank(0);
  const ModelFile* wanted = nullptr;
  Common common;
  const Model model = mpi::agreed(transport, [&] {
    wanted = &wanted_file(flags);
    refuse_flags_of_runs(flags, *wanted);
    if (writes_packed(flags) && transport.size() != 1) {
      throw InputError("--packed packs on one rank, and the job has " +
                       std::to_string(transport.size()) + ": start one");
    }
    common = read_common(flags, !first);
    common.limits.memory = memory;
    Model read = load_model(flags.text("model"), read_input_size(flags), common.limits);
    wanted->check(read);
    if (first) {
      const std::string file = flags.text(wanted->flag);
      check_writable(file, common.existing);
      if (writes_packed(flags)) check_writable(packed_file_of(file), common.existing);
      require_writable_memory(read, file, memory, transport.local_size());
    }
    return read;
  });
  if (!first) return 0;
  SeededSource source(common.seed);
  write_after_work(
      [&] { wanted->write(model, source, flags.text(wanted->flag), common.existing); });
  return 0;
}

}  // namespace hios::cli
