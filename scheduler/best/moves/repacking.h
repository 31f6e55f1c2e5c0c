#pragma once

#include <cstdint>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/numbers/random.h"

namespace hios::scheduler::best {

/// Some items (operators or groups of one label) and the devices' room for them.
struct Repacking {
  struct Item {
    Bytes bytes = 0;
    DeviceId now;               ///< its device
    std::vector<DeviceId> may;  ///< devices that it may use
  };
  std::vector<Item> items;
  std::vector<Bytes> room;  ///< by device, without the items
};

/// Returns a random reassignment of the items, at least one moved, such that no device exceeds its
/// room: devices by item, or empty if none was found within `steps` steps of O(1).
std::vector<DeviceId> repack(Repacking problem, std::int64_t steps, Random& random);

}  // namespace hios::scheduler::best
