#include "engine/job/operator_times.h"

#include <algorithm>

#include "hios/base/numbers/statistics.h"
#include "mpi/exchange.h"

namespace hios::job {

void OperatorSamples::add(const std::vector<OperatorTime>& iteration) {
  if (ops_.empty()) {
    for (const OperatorTime& each : iteration) ops_.push_back(each.op);
    ms_.resize(ops_.size());
  }
  for (std::size_t i = 0; i < iteration.size(); ++i) ms_[i].push_back(iteration[i].ms);
}

std::vector<OperatorTime> OperatorSamples::gather_medians(mpi::Transport& transport) const {
  std::vector<OperatorTime> mine;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    mine.push_back({ops_[i], summarize(ms_[i]).median});
  }
  std::vector<OperatorTime> all;
  for (const auto& of_rank : mpi::gather(transport, mine)) {
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  return all;
}

std::vector<ReportOperator> report_operators(const RunInputs& inputs, const Timeline& measured,
                                             const std::vector<OperatorTime>& times,
                                             const CostModel* costs) {
  // An emulated machine's own graph has the sizes and costs.
  const Graph& graph = inputs.machine ? inputs.machine->graph : inputs.network.coarse.graph;
  const Schedule& schedule = inputs.schedule.schedule;
  std::vector<ReportOperator> operators;
  for (std::size_t rank = 0; rank < schedule.devices.size(); ++rank) {
    for (std::size_t stage = 0; stage < schedule.devices[rank].size(); ++stage) {
      for (const Group& group : schedule.devices[rank][stage].groups) {
        for (const OpId op : group) {
          ReportOperator row{op, rank, stage, {}, {}, graph.op(op).memory_bytes, 0};
          if (costs) row.predicted_ms = costs->operator_ms(op, DeviceId(rank));
          operators.push_back(row);
        }
      }
    }
  }
  std::vector<ReportOperator*> row_of(graph.size(), nullptr);
  for (ReportOperator& row : operators) row_of[row.op.index()] = &row;
  for (const OperatorTime& time : times) row_of[time.op.index()]->measured_ms = time.ms;
  for (const TransferTimes& transfer : measured.transfers) {
    row_of[transfer.producer.index()]->sent_bytes += transfer.size_bytes;
  }
  // The operators of one stage stay together, group by group.
  std::ranges::stable_sort(operators, {}, [&](const ReportOperator& row) {
    return measured.stages[row.rank][row.stage].start_ms;
  });
  return operators;
}

}  // namespace hios::job
