#include "cli/run/write_packed.h"

#include "cli/process/output.h"
#include "cli/run/run_flags.h"
#include "engine/cold/packed_parameters.h"
#include "engine/job/run_job.h"
#include "hios/base/error.h"
#include "mpi/session/agreement.h"

namespace hios::cli {

namespace {

/// Returns the operators with parameters whose stages have several groups, which share the cores.
std::vector<HeldOperator> in_groups(const job::RunInputs& inputs) {
  const Graph& graph = inputs.network.coarse.graph;
  std::vector<HeldOperator> held;
  for (const auto& stages : inputs.schedule.schedule.devices) {
    for (const Stage& stage : stages) {
      for (std::size_t g = 0; g < stage.groups.size() && stage.groups.size() > 1; ++g) {
        for (const OpId op : stage.groups[g]) {
          if (graph.op(op).parameter_bytes > 0) held.push_back({op, g, stage.groups.size()});
        }
      }
    }
  }
  return held;
}

}  // namespace

bool writes_packed(const Flags& flags) { return flags.given("packed"); }

std::string packed_file(const Flags& flags) {
  const auto written = flags.optional_text("write-weights");
  const auto read = flags.optional_text("weights");
  if (!written && !read) {
    throw InputError(
        "--packed packs the weights of --write-weights FILE or --weights FILE: give one");
  }
  return packed_file_of(written ? *written : *read).string();
}

// One rank has the parameters of all and runs nothing, so only the groups of the schedule matter:
// they share the rank's cores, on which layouts may depend.
int write_packed_weights(const Flags& flags, job::Watch& watch, std::optional<Bytes> memory) {
  mpi::Transport& transport = watch.transport();
  RunCommand command =
      mpi::agreed(transport, [&] { return read_run_command(flags, transport, memory); });
  watch.set_timeout(command.timeout_s);
  job::RunInputs& inputs = command.inputs;
  const std::vector<HeldOperator> held = in_groups(inputs);
  inputs.schedule = job::schedule_in_order(inputs.network, inputs.schedule.devices.front(),
                                           inputs.schedule.merge);
  inputs.schedule_digest.clear();
  job::RunJob job(watch, inputs, command.options);
  write_after_work(
      [&] { job.write_packed_parameters(packed_file(flags), held, command.common.existing); });
  return 0;
}

}  // namespace hios::cli
