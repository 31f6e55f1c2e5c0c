#pragma once

#include "cli/run/run_results.h"
#include "hios/report/trace.h"

namespace hios::cli {

/// Planned and measured lanes side by side, a lane a rank and stream, an arrow a message. The
/// planned ones need a profile.
Trace run_trace(const RunJob& job, const RunResults& results, const CostModel* costs);

}  // namespace hios::cli
