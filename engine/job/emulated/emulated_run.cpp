// RunJob's runs on a machine that is emulated. The plan, the executor and its messages are those of
// any other run; the tensors in memory are digests, so the sizes that reports show are put in here.
#include <cstdio>
#include <utility>
#include <vector>

#include "engine/cold/load_courier.h"
#include "engine/emulated/backend.h"
#include "engine/emulated/transport.h"
#include "engine/job/emulated/held_parameters.h"
#include "engine/job/report_data.h"
#include "engine/job/run_job_state.h"
#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "mpi/session/agreement.h"

namespace hios::job {

void RunJob::State::agree_on_machine() {
  const emulated::Machine& machine = *inputs.machine;
  char scale[32];
  std::snprintf(scale, sizeof scale, "%.17g", machine.time_scale);
  mpi::agree_on_facts(transport(),
                      {{"the time scale", scale},
                       {"the emulated machine, of graph and platform,",
                        emulated::digest_of_times(machine, inputs.schedule.schedule)}});
}

void RunJob::State::make_emulated_backend() {
  const emulated::Machine& machine = *inputs.machine;
  emulation = std::make_unique<emulated::Emulation>(transport(), machine, inputs.schedule.schedule);
  mine.backend = emulated::make_backend(emulation.get(), devices.front().precision);
}

void RunJob::State::make_emulated_transport() {
  emulated_transport =
      emulated::make_transport(tensors->get(), *emulation, [this](int tag, Rank to) {
        const emulated::PlannedFlows& flows = emulation->flows();
        if (tag >= plan.tags) return LoadCourier::load_of(tag, plan.tags, plan.exchange.numbers);
        return flows.message(OpId(static_cast<std::size_t>(tag)), DeviceId(to.index()));
      });
}

std::vector<ReportRank> RunJob::State::emulated_ranks() const {
  const CoarseGraph& digests = inputs.network.coarse;
  CoarseGraph coarse{
      inputs.machine->graph, digests.operators, digests.producer_of, digests.element_bytes, {}, {}};
  const RankPlan sized =
      plan_rank(coarse, inputs.schedule.schedule, Rank(copy_device().device.index()),
                {.any_order = options.any_order});
  std::vector<ReportRank> ranks = gather_ranks(transport(), mine, sized);
  std::vector<MemoryEstimate> held(ranks.size());  // a graph has no input of a size
  const std::vector<Bytes> parameters =
      most_held_parameters(coarse.graph, inputs.schedule.schedule, simulated());
  for (std::size_t r = 0; r < ranks.size(); ++r) held[r].parameters = parameters[r];
  note_memory(ranks, held, platform.devices());
  return ranks;
}

void RunJob::State::note_sizes(Timeline& measured) const {
  const emulated::PlannedFlows& flows = emulation->flows();
  for (TransferTimes& transfer : measured.transfers) {
    if (const auto flow = flows.message(transfer.producer, transfer.to)) {
      transfer.size_bytes = flows[*flow].size_bytes;
    }
  }
  for (LoadTimes& load : measured.loads) {
    load.size_bytes = flows[flows.load(load.lane, load.index)].size_bytes;
  }
}

Timeline RunJob::State::simulated() const {
  const emulated::Machine& machine = *inputs.machine;
  return simulate(machine.graph, inputs.schedule.schedule,
                  CostModel::from_graph(machine.graph, machine.platform));
}

}  // namespace hios::job
