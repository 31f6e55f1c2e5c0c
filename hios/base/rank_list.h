#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hios {

/// Returns "rank 2", "ranks 0 and 2", "ranks 0, 1 and 3". REQUIRES: not empty.
std::string rank_list(const std::vector<std::size_t>& ranks);

}  // namespace hios
