#include "cli/run/write_packed.h"

#include "cli/process/output.h"
#include "cli/run/run_flags.h"
#include "engine/cold/packed_parameters.h"
#include "engine/job/run_job.h"
#include "hios/base/error.h"
#include "mpi/session/agreement.h"

namespace hios::cli {

int write_packed_weights(const Flags& flags, job::Watch& watch, std::optional<Bytes> memory) {
  mpi::Transport& transport = watch.transport();
  RunCommand command =
      mpi::agreed(transport, [&] { return read_run_command(flags, transport, memory); });
  watch.set_timeout(command.timeout_s);
  // One rank has the parameters of all, and runs nothing: the schedule's stages do not matter.
  job::RunInputs& inputs = command.inputs;
  inputs.schedule = job::schedule_in_order(inputs.network, inputs.schedule.devices.front(),
                                           inputs.schedule.merge);
  inputs.schedule_digest.clear();
  job::RunJob job(watch, inputs, command.options);
  write_after_work([&] {
    job.write_packed_parameters(packed_file_of(flags.text("write-weights")),
                                command.common.existing);
  });
  return 0;
}

}  // namespace hios::cli
