#include "scheduler/best/moves/repacking.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace hios::scheduler::best {
namespace {

/// Returns every packing but the present one, by trying all.
std::set<std::vector<DeviceId>> all_packings(const Repacking& problem) {
  std::set<std::vector<DeviceId>> found;
  std::size_t count = 1;
  for (const Repacking::Item& item : problem.items) count *= item.may.size();
  for (std::size_t number = 0; number < count; ++number) {
    std::vector<DeviceId> devices;
    std::vector<Bytes> held(problem.room.size(), 0);
    bool fits = true, moved = false;
    std::size_t rest = number;
    for (const Repacking::Item& item : problem.items) {
      const DeviceId device = item.may[rest % item.may.size()];
      rest /= item.may.size();
      held[device.index()] += item.bytes;
      fits = fits && held[device.index()] <= problem.room[device.index()];
      moved = moved || device != item.now;
      devices.push_back(device);
    }
    if (fits && moved) found.insert(devices);
  }
  return found;
}

TEST(Repacking, FindsEveryPackingAndNoOther) {
  std::size_t none = 0, several = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "repacking");
    Repacking problem;
    problem.room.assign(3, seed % 3);
    for (int i = 0; i < 4; ++i) {
      Repacking::Item item{random.below(6), DeviceId(random.below(3)), {}};
      for (std::size_t d = 0; d < 3; ++d) {
        if (d == item.now.index() || random.below(3) > 0) item.may.push_back(DeviceId(d));
      }
      problem.room[item.now.index()] += item.bytes;
      problem.items.push_back(item);
    }
    const auto all = all_packings(problem);
    std::set<std::vector<DeviceId>> met;
    for (int i = 0; i < 800; ++i) {
      const std::vector<DeviceId> devices = repack(problem, 1000, random);
      ASSERT_EQ(devices.empty(), all.empty());
      if (!devices.empty()) met.insert(devices);
    }
    EXPECT_EQ(met, all);
    none += all.empty();
    several += all.size() > 2;
  }
  EXPECT_GT(none, 5u);
  EXPECT_GT(several, 20u);
}

TEST(Repacking, EndsWhenItsStepsAreUsedUp) {
  Repacking problem;
  problem.room = {100, 99};  // for 210 bytes
  for (int i = 0; i < 30; ++i)
    problem.items.push_back({7, DeviceId(0), {DeviceId(0), DeviceId(1)}});
  Random random(1, "steps");
  EXPECT_TRUE(repack(problem, 1000, random).empty());
}

}  // namespace
}  // namespace hios::scheduler::best
