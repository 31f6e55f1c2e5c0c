#pragma once

#include <vector>

#include "hios/base/ids.h"
#include "hios/base/numbers/random.h"

namespace hios::scheduler::best {

/// A few operators, or groups that share a label, and what room devices have for them.
struct Repacking {
  struct Item {
    Bytes bytes = 0;
    DeviceId now;               ///< where it is
    std::vector<DeviceId> may;  ///< where it may be
  };
  std::vector<Item> items;
  std::vector<Bytes> room;  ///< by device, with none of the items there
};

/// Other devices for the items such that none holds more than its room, by chance; by item, empty
/// where none was met within `steps` steps of O(1).
std::vector<DeviceId> repack(Repacking problem, std::int64_t steps, Random& random);

}  // namespace hios::scheduler::best
