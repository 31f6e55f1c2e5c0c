#pragma once

#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/graph/batches.h"

namespace hios::test {

/// Returns a random division of the inputs into batches of the available sizes, for each operator.
inline std::vector<Batch> random_batches(const SizedGraphs& graphs, Random& random) {
  std::vector<Batch> batches;
  const std::int64_t part = graphs.sizes().front();
  for (std::size_t op = 0; op < graphs.whole()->size(); ++op) {
    for (std::int64_t begin = 0; begin < graphs.inputs();) {
      const auto left = static_cast<std::size_t>((graphs.inputs() - begin) / part);
      const auto size = static_cast<std::int64_t>(1 + random.below(left)) * part;
      batches.push_back({OpId(op), {begin, begin + size}});
      begin += size;
    }
  }
  return batches;
}

}  // namespace hios::test
