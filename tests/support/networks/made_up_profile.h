#pragma once

#include <string_view>

#include "hios/graph/graph.h"
#include "hios/profile/profile.h"

namespace hios::test {

/// Makes a profile with costs from the network's shapes: different work of operators, and transfers
/// that are worth avoiding. One configuration, for `ranks` devices of that kind and number of
/// threads.
Profile made_up_profile(const Graph& graph, std::size_t ranks, std::string_view kind = "cpu",
                        int threads = 1);

}  // namespace hios::test
