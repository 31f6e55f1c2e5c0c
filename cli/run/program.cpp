#include "cli/run/program.h"

#include <nlohmann/json.hpp>

#include "cli/device_list.h"
#include "cli/flags/describe.h"
#include "cli/flags/flight_flags.h"
#include "cli/flags/model_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/process/output.h"
#include "cli/process/stop_request.h"
#include "cli/provenance.h"
#include "cli/rank_program.h"
#include "cli/remedies.h"
#include "cli/run/inferences_flags.h"
#include "cli/run/inputs/emulated_flags.h"
#include "cli/run/run_flags.h"
#include "cli/run/run_results.h"
#include "cli/run/why_run.h"
#include "cli/run/write_model.h"
#include "engine/host/available_memory.h"
#include "engine/job/ranks/host_memory.h"
#include "engine/job/run_job.h"
#include "hios/base/files/npy.h"
#include "hios/base/log.h"
#include "mpi/session/agreement.h"

namespace hios::cli {
namespace {

std::string incomplete_text(const RunCommand& command, int signal) {
  const bool verify = command.options.verify != job::Verify::kNo;
  return "ended by " + signal_name(signal) +
         (verify ? " before it was verified" : " before its end");
}

/// Returns an output's name: on an emulated machine its operator's.
std::string output_name(const NamedOutput& output, const job::RunInputs& inputs) {
  if (!inputs.machine) return output.name;
  const CoarseGraph& coarse = inputs.network.coarse;
  return coarse.graph.op(coarse.producer_of[output.tensor.index()].value()).name;
}

/// Writes 0.npy, 1.npy, … and, last, their description, outputs.json.
void write_outputs(const RunCommand& command, const job::RunResults& results) {
  const Model& model = command.inputs.network.model;
  const Existing existing = command.common.existing;
  Json list = Json::array();
  for (std::size_t i = 0; i < model.named_outputs().size(); ++i) {
    const NamedOutput& output = model.named_outputs()[i];
    const std::string file = std::to_string(i) + ".npy";
    write_npy(*command.outputs / file, output.dims, results.model_outputs[i], existing);
    list.push_back(
        {{"name", output_name(output, command.inputs)}, {"file", file}, {"dims", output.dims}});
  }
  write_json(*command.outputs / "outputs.json", {{"model", model.name()}, {"outputs", list}},
             existing);
}

/// Prints and writes results on rank 0; returns the exit status on every rank. `signal`: the signal
/// that ended the run; 0: none.
int write_results(const Flags& flags, const RunCommand& command, mpi::Transport& transport,
                  const Provenance& provenance, const job::RunJob& job,
                  const job::RunResults& results, int signal) {
  double status = 0;
  if (transport.rank() == Rank(0)) {
    Report report = full_report(flags, command, job.setup(), results);
    report.date = provenance.date;
    report.environment = provenance.environment;
    report.why = why_of_run(command.inputs, results, job.costs());
    if (results.stopped) report.incomplete = incomplete_text(command, signal);
    write_after_work([&] {
      status = print_results(command, report, job.setup(), results);
      if (report.why)
        show(why_text(*report.why, command.inputs.network.coarse.graph, line_width()));
      const Existing existing = command.common.existing;
      if (command.common.json)
        write_json(*command.common.json, to_json(report, command.inputs.network.coarse.graph),
                   existing);
      if (command.outputs && !results.stopped) write_outputs(command, results);
      if (command.trace)
        write_json(*command.trace, run_trace(command.inputs, results, job.costs()).json(),
                   existing);
    });
  }
  transport.all_reduce_max({&status, 1});
  return static_cast<int>(status);
}

void report_setup(const RunCommand& command, const job::RunSetup& setup) {
  print_setup(command, setup);
  warn_of(setup.warnings);
  warn_of_unsettled(setup.unsettled);
  warn_of_elsewhere(setup.elsewhere);
  if (command.inputs.schedule.objective == Objective::kThroughput && !command.options.inferences &&
      !command.inputs.machine) {
    log::info(
        "the schedule is for throughput, and this run has one inference at a time: --inferences "
        "keeps many in flight");
  }
}

int run(mpi::Transport& plain_transport, flight::Recorder& recorder, int argc, char** argv) {
  job::Watch watch(plain_transport,
                   early_timeout_s(argc, argv).value_or(job::Watch::kDefaultTimeoutSeconds),
                   &recorder);
  watch.name_timeout("--timeout");
  mpi::Transport& transport = watch.transport();
  Flags flags = run_program_flags();
  watch.phase("reading what to do");
  watch.meet();
  if (!parse_on_all_ranks(flags, argc, argv, transport)) return 0;
  share_standard_input(flags, watch);
  if (flags.given("explain")) {
    mpi::agreed(transport, [&] {
      const Common common = read_common(flags, !(transport.rank() == Rank(0)));
      const std::string text = explanation(flags, common.limits);
      if (transport.rank() == Rank(0)) show(text);
    });
    return 0;
  }
  const bool emulated = mpi::agreed(transport, [&] { return emulates(flags); });
  const auto memory = job::share_of_memory(transport, read_available_memory());
  if (writes_model(flags)) return write_model(flags, watch, memory);
  if (flags.given("list-devices")) return list_devices(flags, transport);
  const Provenance provenance = gather_provenance(transport);
  const RunCommand command =
      mpi::agreed(transport, [&] { return read_run_command(flags, transport, memory); });
  watch.set_timeout(command.timeout_s);
  const Network& network = command.inputs.network;
  const std::string words = emulated
                                ? emulated_words(flags)
                                : model_words(with_cuts_of(command.inputs.schedule_name,
                                                           command.inputs.schedule.cuts, flags),
                                              network.model, network.coarse.graph);
  job::RunJob job =
      with_remedies(words, [&] { return job::RunJob(watch, command.inputs, command.options); });
  const bool first = transport.rank() == Rank(0);
  if (first) report_setup(command, job.setup());
  if (command.dry_run) {
    const std::vector<std::string> steps = job.steps();
    if (first) print_steps(steps);
    return 0;
  }
  // Until here a signal ends the program; from here on there are results to keep.
  const StopRequest stop(grace_of(plain_transport, "the run"));
  const job::RunResults results = job.run();
  const int signal = signal_of_any(transport);
  const bool nothing = results.iterations_ms.empty();
  const int status =
      nothing ? 0 : write_results(flags, command, transport, provenance, job, results, signal);
  if (signal == 0) return status;
  if (first) {
    log::info("ended by " + signal_name(signal) +
              (nothing ? " before anything was measured: nothing was written"
                       : ": the measurements so far were kept"));
  }
  return exit_status_of_signal(signal);
}

}  // namespace

int run_program(int argc, char** argv) {
  if (asks_for_description(argc, argv)) return describe(run_program_flags());
  return rank_program(argc, argv, run);
}

}  // namespace hios::cli
