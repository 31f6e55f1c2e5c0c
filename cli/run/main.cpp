// hios-run: runs a schedule, one rank a device, and says how long it took, whether the prediction
// was right and whether the result is.

#include "cli/model_flags.h"
#include "cli/rank_flags.h"
#include "cli/remedies.h"
#include "cli/run/run_flags.h"
#include "cli/run/run_results.h"
#include "engine/job/run_job.h"
#include "mpi/session/agreement.h"
#include "mpi/session/session.h"

namespace hios::cli {
namespace {

/// Rank 0 prints and writes; every rank learns the exit status.
int write_results(const Flags& flags, const RunCommand& command, mpi::Transport& transport,
                  const job::RunJob& job, const job::RunResults& results) {
  double status = 0;
  if (transport.rank() == Rank(0)) {
    const Report report = full_report(flags, command, job.setup(), results);
    write_after_work([&] {
      status = print_results(command, report, job.setup(), results);
      const Existing existing = command.common.existing;
      if (command.common.json)
        write_json(*command.common.json, to_json(report, command.inputs.network.coarse.graph),
                   existing);
      if (command.trace)
        write_json(*command.trace, run_trace(command.inputs, results, job.costs()).json(),
                   existing);
    });
  }
  transport.all_reduce_max({&status, 1});
  return static_cast<int>(status);
}

int run(mpi::Transport& plain_transport, int argc, char** argv) {
  job::Watch watch(plain_transport);
  watch.name_timeout("--timeout");
  mpi::Transport& transport = watch.transport();
  Flags flags("hios-run", "run a schedule, one rank a device (mpirun -np M)");
  flags.add(model_flags())
      .add(rank_flags())
      .add(device_flags())
      .add(run_flags())
      .add(common_flags());
  watch.phase("reading what to do");
  if (!parse_on_all_ranks(flags, argc, argv, transport)) return 0;
  const RunCommand command =
      mpi::agreed(transport, [&] { return read_run_command(flags, transport); });
  watch.set_timeout(command.timeout_s);
  job::RunJob job = with_remedies(model_words(flags, command.inputs.network), [&] {
    return job::RunJob(watch, command.inputs, command.options);
  });
  const bool first = transport.rank() == Rank(0);
  if (first) {
    print_setup(command, job.setup());
    warn_of_unsettled(job.setup().unsettled);
  }
  if (command.dry_run) {
    const std::vector<std::string> steps = job.steps();
    if (first) print_steps(steps);
    return 0;
  }
  return write_results(flags, command, transport, job, job.run());
}

}  // namespace
}  // namespace hios::cli

int main(int argc, char** argv) {
  hios::cli::ensure_openmp_environment(argv);
  const auto body = [&](hios::mpi::Transport& transport) {
    return hios::cli::run(transport, argc, argv);
  };
  return hios::mpi::run_session(
      argc, argv, body, [](const hios::Error& error) { return hios::cli::error_line(error); });
}
