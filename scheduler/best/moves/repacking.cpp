#include "scheduler/best/moves/repacking.h"

#include <algorithm>
#include <numeric>

// Depth-first search, the largest item first, since small ones fill the rest. Each item's devices
// are shuffled, so any packing may be found first.
//
// Tests: tests/scheduler/best/moves/repacking_test.cpp (finds every packing, and no other).

namespace hios::scheduler::best {
namespace {

class Packer {
 public:
  Packer(Repacking problem, std::int64_t steps, Random& random)
      : items_(std::move(problem.items)),
        room_(std::move(problem.room)),
        steps_(steps),
        device_(items_.size()),
        by_size_(items_.size()) {
    std::iota(by_size_.begin(), by_size_.end(), std::size_t{0});
    std::stable_sort(by_size_.begin(), by_size_.end(), [&](std::size_t a, std::size_t b) {
      return items_[a].bytes > items_[b].bytes;
    });
    for (Repacking::Item& item : items_) {
      for (std::size_t i = item.may.size(); i > 1; --i) {
        std::swap(item.may[i - 1], item.may[random.below(i)]);
      }
    }
  }

  std::vector<DeviceId> run() {
    return assign(0, false) ? std::move(device_) : std::vector<DeviceId>();
  }

 private:
  bool assign(std::size_t next, bool any_moved) {
    if (next == items_.size()) return any_moved;
    const Repacking::Item& item = items_[by_size_[next]];
    for (DeviceId device : item.may) {
      if (--steps_ < 0) return false;
      Bytes& room = room_[device.index()];
      if (item.bytes > room) continue;
      room -= item.bytes;
      device_[by_size_[next]] = device;
      if (assign(next + 1, any_moved || device != item.now)) return true;
      room += item.bytes;
    }
    return false;
  }

  std::vector<Repacking::Item> items_;
  std::vector<Bytes> room_;
  std::int64_t steps_;
  std::vector<DeviceId> device_;  // by item
  std::vector<std::size_t> by_size_;
};

}  // namespace

std::vector<DeviceId> repack(Repacking problem, std::int64_t steps, Random& random) {
  return Packer(std::move(problem), steps, random).run();
}

}  // namespace hios::scheduler::best
