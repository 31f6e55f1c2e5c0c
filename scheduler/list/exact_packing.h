#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hios/base/ids.h"

namespace hios::scheduler {

enum class PackingOutcome {
  kFound,
  kNone,      ///< proven: no packing exists
  kUndecided  ///< the steps were used up, or there are too many items to start
};

struct ExactPacking {
  PackingOutcome outcome = PackingOutcome::kUndecided;
  std::vector<std::size_t> device;  ///< by item, if found
};

/// Assigns a device to every item such that no device holds more than its room. The search is
/// exhaustive but for dominated choices, and takes at most about `steps` steps of O(1). It is
/// deterministic. `able` returns true if the item may go to the device, apart from its size.
ExactPacking pack_exactly(const std::vector<Bytes>& items, const std::vector<Bytes>& room,
                          const std::function<bool(std::size_t item, std::size_t device)>& able,
                          std::int64_t steps);

}  // namespace hios::scheduler
