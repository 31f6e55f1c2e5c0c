#pragma once

#include <string>
#include <vector>

namespace hios::cuda_emulation {

/// Notes the ranges of this thread from now on, and forgets those that were noted.
void note_ranges();
/// Returns the ranges since then, each with those around it: "stage/conv_1"; and notes no more.
std::vector<std::string> noted_ranges();
/// Returns the name of this thread's innermost range, that of an operator while it queues its work;
/// empty: none is open.
std::string open_range();

}  // namespace hios::cuda_emulation
