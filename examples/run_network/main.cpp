// Measures, schedules and runs a network from C++: mpirun -np 2 run_network [NETWORK [PIXELS]].
// Without mpirun it is one rank. Every rank runs this code; the calls themselves agree on values
// that ranks must share.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/job/profile_job.h"
#include "engine/job/run_job.h"
#include "hios/base/numbers/statistics.h"
#include "mpi/session/session.h"
#include "scheduler/registry.h"

using namespace hios;

namespace {

int run(mpi::Transport& transport, const std::string& name, const InputSize& size) {
  const Network network(load_model(name, size));
  const Graph& graph = network.coarse.graph;

  // 1. The costs of operators and transfers on these ranks, one core each.
  job::Watch watch(transport);  // reports the step of a rank that hangs
  job::ProfileJob profiling(watch, network, Profile(), job::ProfileOptions());
  profiling.measure();

  // 2. A schedule, the same on every rank: schedulers are pure functions.
  const Platform platform = Platform::homogeneous(transport.size(), "cpu", 1, 1);
  const CostModel costs = CostModel::from_profile(graph, platform, profiling.profile());
  const scheduler::Algorithm& algorithm = scheduler::built_in().find("hios-lp");
  const scheduler::ScheduleResult planned =
      algorithm.run(scheduler::Problem(costs), Options(algorithm.options), {});

  // 3. The run, compared with plain loops and, bit by bit, with one rank.
  job::RunInputs inputs{.network = network, .schedule = {}, .profile = profiling.profile()};
  inputs.schedule.graph_name = graph.name();
  inputs.schedule.graph_digest = graph.digest();
  inputs.schedule.algorithm = algorithm.name;
  inputs.schedule.devices = {platform.devices().begin(), platform.devices().end()};
  inputs.schedule.schedule = planned.schedule;
  inputs.schedule.predicted = {planned.latency_ms, planned.estimated_stages, planned.lower_bound_ms,
                               planned.bound};
  job::RunOptions options;
  options.protocol.iterations = 20;
  options.verify = job::Verify::kOutputs;
  const job::RunResults results = job::run(watch.transport(), inputs, options);

  if (transport.rank() == Rank(0)) {
    std::printf("%s on %zu ranks: predicted %.2f ms, measured %.2f ms (median), verified: %s\n",
                network.description().c_str(), transport.size(), planned.latency_ms,
                summarize(results.iterations_ms).median, results.verified->passed() ? "yes" : "no");
  }
  return results.verified->passed() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  InputSize size;
  if (argc > 2) size.height = std::atoi(argv[2]);
  return mpi::run_session(argc, argv, [&](mpi::Transport& transport) {
    return run(transport, argc > 1 ? argv[1] : "squeezenet", size);
  });
}
