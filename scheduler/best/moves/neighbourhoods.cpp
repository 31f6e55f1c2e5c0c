#include "scheduler/best/moves/neighbourhoods.h"

namespace hios::scheduler::best {

std::vector<Neighbourhood> neighbourhoods_of(const Arrangement& arrangement, std::size_t size,
                                             Random& random) {
  const std::size_t slots = arrangement.slots();
  std::vector<Neighbourhood> neighbourhoods;
  std::size_t first = 0;
  std::size_t end = size / 2 + random.below(size);
  for (; end + size / 2 < slots; end += size) {
    while (end < slots && arrangement.empty(arrangement.at(end))) ++end;
    neighbourhoods.push_back({first, end});
    first = end;
  }
  if (first < slots) neighbourhoods.push_back({first, slots});
  return neighbourhoods;
}

}  // namespace hios::scheduler::best
