#include "cli/run/write_model.h"

#include <set>
#include <string_view>

#include "cli/flags/model_flags.h"
#include "cli/process/output.h"
#include "cli/run/write_packed.h"
#include "engine/backend/tensor_source.h"
#include "engine/backends.h"
#include "hios/base/error.h"
#include "hios/base/files/file_io.h"
#include "hios/model/weights/weights_file.h"
#include "hios/onnx/write/export.h"
#include "mpi/session/agreement.h"

namespace hios::cli {
namespace {

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
           model, [&](const Layer& layer) { return values_of(source, model, layer); }, file,
           existing);
     }},
    {"write-weights", [](const Model&) {},
     [](const Model& model, SeededSource& source, const std::string& file, Existing existing) {
       write_weights(
           file, model, [&](const Layer& layer) { return values_of(source, model, layer); },
           existing);
     }}};

/// Returns the only file that the flags ask for. Throws InputError where they ask for both.
const ModelFile& wanted_file(const Flags& flags) {
  if (!flags.given(kFiles[1].flag)) return kFiles[0];
  if (!flags.given(kFiles[0].flag)) return kFiles[1];
  throw InputError("--export-onnx and --write-weights each write one file: give one of them");
}

/// Throws InputError where a flag of runs is given, since nothing runs. Packed weights depend on
/// how operators are fused and computed. `wanted`: the flag of the file.
void refuse_flags_of_runs(const Flags& flags, const char* wanted) {
  std::set<std::string_view> known{wanted,    "model",         "batch",        "height",    "width",
                                   "dim",     "seed",          "force",        "max-input", "quiet",
                                   "verbose", "flight-record", "oversubscribe"};
  if (writes_packed(flags)) {
    known.insert({"packed", "schedule", "profile", "fusion", "merge", "cut", "backend", "threads",
                  "timeout"});
  }
  const std::vector<std::string> others = flags.written_except(known);
  if (others.empty()) return;
  throw InputError("--" + std::string(wanted) + " writes the model and runs nothing: leave out --" +
                   others.front());
}

/// Throws InputError where packed weights cannot be written. `wanted`: the flag of their weights.
void check_packed(const Flags& flags, const char* wanted, const mpi::Transport& transport,
                  Existing existing) {
  const std::string file = packed_file(flags);
  refuse_flags_of_runs(flags, wanted);
  if (transport.size() != 1) {
    throw InputError("--packed packs on one rank, and the job has " +
                     std::to_string(transport.size()) + ": start one");
  }
  check_writable(file, existing);
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

bool writes_model(const Flags& flags) {
  return writes_packed(flags) || flags.given(kFiles[0].flag) || flags.given(kFiles[1].flag);
}

int write_model(const Flags& flags, job::Watch& watch, std::optional<Bytes> memory) {
  mpi::Transport& transport = watch.transport();
  if (writes_packed(flags) && !flags.given(kFiles[1].flag)) {
    mpi::agreed(transport, [&] {
      check_packed(flags, "weights", transport, read_common(flags, true).existing);
    });
    return write_packed_weights(flags, watch, memory);
  }
  const bool first = transport.rank() == Rank(0);
  const ModelFile* wanted = nullptr;
  Common common;
  const Model model = mpi::agreed(transport, [&] {
    wanted = &wanted_file(flags);
    refuse_flags_of_runs(flags, wanted->flag);
    common = read_common(flags, !first);
    common.limits.memory = memory;
    Model read =
        load_model(flags.text("model"), read_input_size(flags), common.limits, layer_kernel());
    wanted->check(read);
    if (writes_packed(flags)) check_packed(flags, wanted->flag, transport, common.existing);
    if (first) {
      const std::string file = flags.text(wanted->flag);
      check_writable(file, common.existing);
      require_writable_memory(read, file, memory, transport.local_size());
    }
    return read;
  });
  if (!first) return 0;
  SeededSource source(common.seed);
  write_after_work(
      [&] { wanted->write(model, source, flags.text(wanted->flag), common.existing); });
  return writes_packed(flags) ? write_packed_weights(flags, watch, memory) : 0;
}

}  // namespace hios::cli
