#include "scheduler/best/moves/windows.h"

namespace hios::scheduler::best {

std::vector<Window> windows_of(const Arrangement& arrangement, std::size_t size, Random& random) {
  const std::size_t slots = arrangement.slots();
  std::vector<Window> windows;
  std::size_t first = 0;
  std::size_t end = size / 2 + random.below(size);
  for (; end + size / 2 < slots; end += size) {
    while (end < slots && arrangement.empty(arrangement.at(end))) ++end;
    windows.push_back({first, end});
    first = end;
  }
  if (first < slots) windows.push_back({first, slots});
  return windows;
}

}  // namespace hios::scheduler::best
