#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "hios/base/ids.h"

namespace hios::scheduler {

enum class PackingOutcome {
  kFound,
  kNone,      ///< proven: there is no packing
  kUndecided  ///< the steps were used up, or there are too many items to begin
};

struct ExactPacking {
  PackingOutcome outcome = PackingOutcome::kUndecided;
  std::vector<std::size_t> device;  ///< by item, where found
};

/// A device for every item such that none holds more than its room, by trying everything that could
/// matter in at most about `steps` steps of O(1). The same arguments give the same packing. `able`:
/// whether the item may go to the device, apart from its size.
ExactPacking pack_exactly(const std::vector<Bytes>& items, const std::vector<Bytes>& room,
                          const std::function<bool(std::size_t item, std::size_t device)>& able,
                          std::int64_t steps);

}  // namespace hios::scheduler
