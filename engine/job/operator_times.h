#pragma once

#include <vector>

#include "engine/job/run_inputs.h"
#include "engine/run/clocks/operator_clocks.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/report/report.h"
#include "mpi/transport.h"

/// The time of an iteration, operator by operator.
namespace hios::job {

/// Collects one rank's operators over several iterations.
class OperatorSamples {
 public:
  void add(const std::vector<OperatorTime>& iteration);
  /// Returns each operator's median, for all ranks' operators, on every rank. Collective.
  std::vector<OperatorTime> gather_medians(mpi::Transport& transport) const;

 private:
  std::vector<OpId> ops_;
  std::vector<std::vector<double>> ms_;  // by position in ops_
};

/// Returns all operators of the schedule in the order in which they started. `measured` is this
/// schedule's timeline; `times` has the operators whose time is known; `costs` may be null.
std::vector<ReportOperator> report_operators(const RunInputs& inputs, const Timeline& measured,
                                             const std::vector<OperatorTime>& times,
                                             const CostModel* costs);

}  // namespace hios::job
