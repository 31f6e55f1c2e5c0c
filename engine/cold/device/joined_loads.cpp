// A call of the driver takes some microseconds, in which a bus moves some tens of kilobytes, and a
// copy that begins later leaves the bus free for a moment. So there are as few copies and events as
// the waits allow. Tests: tests/engine/cold/device/joined_loads_test.cpp.
#include "engine/cold/device/joined_loads.h"

namespace hios {
namespace {

bool are_neighbours(const ParameterCopy& copy, const ParameterCopy& next) {
  return copy.from + copy.size_bytes == next.from && copy.to + copy.size_bytes == next.to;
}

}  // namespace

std::vector<JoinedLoads> join_loads(const Loader::LaneOfCopies& loads,
                                    const std::vector<bool>& awaited) {
  std::vector<JoinedLoads> joined;
  bool open = false;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!open) joined.push_back({i, i});
    JoinedLoads& last = joined.back();
    last.end = i + 1;
    for (const ParameterCopy& copy : loads[i]) {
      if (!last.copies.empty() && are_neighbours(last.copies.back(), copy)) {
        last.copies.back().size_bytes += copy.size_bytes;
      } else {
        last.copies.push_back(copy);
      }
    }
    open = !awaited[i];
  }
  return joined;
}

}  // namespace hios
