#pragma once

#include <string>

#include "engine/job/run_inputs.h"

namespace hios::job {

/// Reads the files of an emulated run, whose times are multiplied. Throws InputError where a file
/// is wrong, where the platform has other devices than the schedule, and as machine_of() does.
RunInputs read_emulated_inputs(const std::string& graph_file, const std::string& schedule_file,
                               const std::string& platform_file, double time_scale,
                               const ReadLimits& limits = {});

}  // namespace hios::job
