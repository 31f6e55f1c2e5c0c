#include "scheduler/structures/history_tree.h"

#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

namespace hios::scheduler {
namespace {

TEST(HistoryTree, FindsTheAncestorThatAWalkFinds) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "history tree");
    const std::size_t rows = 1 + random.below(200), devices = 1 + random.below(5);
    HistoryTree tree(rows, devices);
    for (std::size_t row = 0; row < rows; ++row) {
      tree.begin_row(row);
      for (std::size_t d = 0; d < devices; ++d) {
        tree.set(row, DeviceId(d), random.uniform(), DeviceId(random.below(devices)));
        if (random.below(3) == 0) {  // a better entry replaces it
          tree.set(row, DeviceId(d), random.uniform(), DeviceId(random.below(devices)));
        }
      }
    }
    for (int i = 0; i < 200; ++i) {
      const std::size_t row = random.below(rows), earlier = random.below(row + 1);
      const DeviceId device(random.below(devices));
      DeviceId walked = device;
      for (std::size_t at = row; at > earlier; --at) {
        walked = DeviceId(tree.entry(at, walked).parent);
      }
      ASSERT_EQ(tree.ancestor(row, device, earlier), walked);
    }
  }
}

TEST(HistoryTree, EntriesExistOnceTheyAreSet) {
  HistoryTree tree(1, 2);
  tree.begin_row(0);
  tree.set(0, DeviceId(1), 2.5, {});
  EXPECT_FALSE(tree.entry(0, DeviceId(0)).exists());
  EXPECT_TRUE(tree.entry(0, DeviceId(1)).exists());
  EXPECT_EQ(tree.entry(0, DeviceId(1)).finish_ms, 2.5);
}

}  // namespace
}  // namespace hios::scheduler
