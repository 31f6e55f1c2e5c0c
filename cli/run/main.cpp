// hios-run: runs a schedule, one rank a device, and says how long it took, whether the prediction
// was right and whether the result is.

#include <cstdlib>

#include "cli/device_setup.h"
#include "cli/gpu_rule.h"
#include "cli/rank_setup.h"
#include "cli/remedies.h"
#include "cli/run/run_inputs.h"
#include "cli/run/run_results.h"
#include "cli/run/run_trace.h"
#include "cli/run/run_verify.h"
#include "engine/backend/operation.h"
#include "engine/job/algorithm_agreement.h"
#include "engine/run/executor.h"
#include "hios/base/log.h"
#include "hios/base/statistics.h"

namespace hios::cli {
namespace {

// Far more than any build of the reference backend needs, sanitizers included.
constexpr double kReferenceSecondsPerGflop = 20;

/// Everything this rank needs, found out before anything runs.
struct Ready {
  RankBackend mine;
  RankPlan plan;
  std::optional<CostModel> costs;
  std::unique_ptr<TensorTransport> tensors;
};

void check_supported(const RunJob& job, const Backend& backend, const RankPlan& plan) {
  for (const Slot& slot : plan.slots) {
    if (slot.received) continue;
    const Operation operation = operation_of(job.network.coarse, job.network.model, slot.op);
    if (const auto why = backend.unsupported(operation)) {
      throw InputError("the " + std::string(backend.name()) + " backend cannot run " +
                       operation.name + ": " + *why);
    }
  }
}

/// Looks what the ranks' GPUs are, and whether the schedule allows them. From here on the
/// platform's devices name them, so that a profile answers for these only. Collective.
void settle_gpus(RunJob& job, const std::string& file, mpi::Transport& transport,
                 const Backend& backend) {
  job.gpus = gather_identities(transport, backend);
  mpi::agree_on_input(transport, refusal_of_gpus(job.gpus, job.platform, file));
  job.platform = job.platform.with_identities(job.gpus);
  if (same_gpus(job.gpus) || transport.rank() != Rank(0)) return;
  log::warning(
      "ranks compute on different GPUs or libraries, as the schedule says: the last bits are not "
      "those of one rank, and are not compared with it");
}

/// The algorithms that the profile was measured with, so that the run computes by the same.
Json known_choices(const RunJob& job, Rank rank) {
  const Configuration* const measured =
      job.profile ? job.profile->find(job.platform, DeviceId(rank.index())) : nullptr;
  return measured ? measured->machine.value("algorithms", Json::object()) : Json::object();
}

Ready get_ready(const Flags& flags, RunJob& job, mpi::Transport& transport) {
  const Precision precision = job.platform.device(DeviceId(transport.rank().index())).precision;
  Ready ready{
      .mine = make_rank_backend(flags, transport, job.backends, job.threads,
                                backend_options(job.devices, transport, job.backends, precision)),
      .plan = {},
      .costs = {},
      .tensors = {}};
  Backend& backend = *ready.mine.backend;
  settle_gpus(job, flags.text("schedule"), transport, backend);
  agreed(transport, [&] {
    ready.plan = plan_rank(job.network.coarse, job.schedule.schedule, transport.rank());
    check_supported(job, backend, ready.plan);
    if (job.profile) {
      ready.costs = with_remedies(job.network.flags, [&] {
        return CostModel::from_profile(job.network.coarse.graph, job.platform, *job.profile);
      });
    }
    return true;
  });
  const CoarseGraph& coarse = job.network.coarse;
  agree_on_memory(transport, backend, coarse, job.network.model, ready.plan);
  agree_on_algorithms(transport, backend, coarse, job.network.model,
                      known_choices(job, transport.rank()));
  ready.tensors = std::make_unique<TensorTransport>(transport, backend, job.devices);
  return ready;
}

/// A few more runs with the stages' clocks on; the quickest of them is the one that is told about.
RecordedRun record_run(mpi::Transport& transport, Executor& executor) {
  executor.record_stages(true);
  RecordedRun best;
  std::vector<StageClock> clocks;
  std::vector<double> overheads;
  for (int i = 0; i < 7; ++i) {
    const double latency_ms = measure(transport, {.warmup = 0, .iterations = 1}, [&] {
                                return executor.run_once();
                              }).front();
    overheads.push_back(executor.overhead_ms());
    if (best.latency_ms > 0 && latency_ms >= best.latency_ms) continue;
    best.latency_ms = latency_ms;
    clocks.assign(executor.stage_clocks().begin(), executor.stage_clocks().end());
  }
  executor.record_stages(false);
  best.overhead_ms = summarize(overheads).median;
  transport.all_reduce_max({&best.overhead_ms, 1});
  best.clocks = gather_clocks(transport, clocks);
  return best;
}

/// Rank 0 prints and writes; every rank learns the exit status.
int write_results(const Flags& flags, const RunJob& job, mpi::Transport& transport,
                  const std::vector<ReportRank>& ranks, const RunResults& results,
                  const CostModel* costs) {
  double status = 0;
  if (transport.rank() == Rank(0)) {
    const Report report = make_report(flags, job, transport, ranks, results);
    write_after_work([&] {
      status = print_results(job, report, results);
      if (job.common.json) {
        write_json(*job.common.json, to_json(report, job.network.coarse.graph),
                   job.common.existing);
      }
      if (job.trace)
        write_json(*job.trace, run_trace(job, results, costs).json(), job.common.existing);
    });
  }
  transport.all_reduce_max({&status, 1});
  return static_cast<int>(status);
}

int run(mpi::Transport& plain_transport, int argc, char** argv) {
  mpi::HeartbeatTransport transport(plain_transport);
  Flags flags("hios-run", "run a schedule, one rank a device (mpirun -np M)");
  flags.add(model_flags())
      .add(rank_flags())
      .add(device_flags())
      .add(run_flags())
      .add(common_flags());
  auto watching = watch_phase(transport, kDefaultTimeoutSeconds, "reading what to do");
  if (!parse_on_all_ranks(flags, argc, argv, transport)) return 0;
  RunJob job = agreed(transport, [&] { return read_run_job(flags, transport); });
  mpi::agree_on_facts(transport, {{"the model", job.network.digest()},
                                  {"the schedule", job.schedule_digest},
                                  {"the profile", job.profile ? job.profile->digest() : ""},
                                  {"the seed", std::to_string(job.common.seed)}});
  watching = watch_phase(transport, job.timeout_s, "setting up");
  const Ready ready = get_ready(flags, job, transport);
  const std::vector<ReportRank> ranks = gather_ranks(transport, ready.mine, ready.plan);
  mpi::Transport& tensors = ready.tensors->get();
  print_setup(job, tensors, ranks, ready.tensors->table());
  if (job.dry_run) {
    print_dry_run(job, transport, ready.plan);
    return 0;
  }

  SeededSource source(job.common.seed);
  Executor executor(job.network.coarse, job.network.model, ready.plan, *ready.mine.backend, tensors,
                    source, {.blocking = job.devices.blocking});
  RunResults results;
  watching.reset();
  {
    const auto watching_runs = watch_runs(executor, transport, job.timeout_s);
    results.iterations_ms = measure(transport, job.protocol, [&] { return executor.run_once(); });
    results.recorded = record_run(transport, executor);
  }
  watching = watch_phase(transport, job.timeout_s, "writing the results");
  results.predicted = predicted_timeline(job, ready.costs ? &*ready.costs : nullptr);
  if (job.verify != Verify::kNo) {
    // The reference backend's plain loops may keep the others waiting.
    const double patience_s =
        job.timeout_s + kReferenceSecondsPerGflop * job.network.model.flop() / 1e9;
    watching = watch_phase(transport, patience_s, "verifying");
    results.verified = verify_run(job, tensors, *ready.mine.backend, source, ready.plan, executor);
    watching = watch_phase(transport, job.timeout_s, "writing the results");
  }
  executor.close();
  results.transfer_paths = ready.tensors->json();
  return write_results(flags, job, tensors, ranks, results, ready.costs ? &*ready.costs : nullptr);
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
