#pragma once

#include <optional>

#include "engine/job/run_job.h"
#include "hios/report/why.h"

namespace hios::cli {

/// Returns the reasons for the latency of a run of one inference at a time; nothing where its
/// stages were not recorded. `costs`: the profile's, or null. Without them, or where their
/// longest path takes longer than the run did, the operators' times are those of the recorded run,
/// as far as each was a stage by itself.
std::optional<Why> why_of_run(const job::RunInputs& inputs, const job::RunResults& results,
                              const CostModel* costs);

}  // namespace hios::cli
