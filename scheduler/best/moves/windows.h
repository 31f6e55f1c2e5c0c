#pragma once

#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// The sequence in windows side by side, each about `size` positions wide: what begins and ends
/// them is drawn, so that no place is at an end every time. REQUIRES: empty slots stand behind the
/// stage before them, as after Arrangement::reorder().
std::vector<Window> windows_of(const Arrangement& arrangement, std::size_t size, Random& random);

}  // namespace hios::scheduler::best
