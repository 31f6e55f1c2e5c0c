#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "hios/base/ids.h"

/// The division of a device among the groups of a stage.
namespace hios {

/// The stream of a group and its cores. A stage of k groups divides the device's cores among its
/// groups; the first groups get the remainder.
struct CoreShare {
  StreamIndex stream;
  int threads = 1;     ///< cores of this group (CPU)
  int first_core = 0;  ///< index into the rank's cores (CPU)
  bool operator==(const CoreShare&) const = default;
};

/// Returns the core shares of a stage of `groups` groups on a device of `threads` cores. Group g
/// gets threads/groups cores (the first threads%groups groups one more), but never less than one:
/// with more groups than cores the later ones share cores.
std::vector<CoreShare> core_shares(std::size_t groups, int threads);

/// Returns the numbers of cores that a group may have, in stages of up to `streams` groups on a
/// device of `threads` cores.
std::set<int> cores_of_groups(int threads, int streams);

}  // namespace hios
