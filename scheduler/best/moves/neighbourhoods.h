#pragma once

#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// Divides the sequence into consecutive neighbourhoods, each about `size` positions wide. Borders
/// are random, so no position is always at one. REQUIRES: empty slots follow the stage before them,
/// as after Arrangement::reorder().
std::vector<Neighbourhood> neighbourhoods_of(const Arrangement& arrangement, std::size_t size,
                                             Random& random);

}  // namespace hios::scheduler::best
