#pragma once

#include <string>
#include <vector>

namespace hios::mpi {

/// What a job says about the complaints of its ranks (by rank; empty: none): empty if no rank
/// complained, the text alone if all said the same, else the first complaint with its rank.
std::string joint_complaint(const std::vector<std::string>& complaints);

}  // namespace hios::mpi
