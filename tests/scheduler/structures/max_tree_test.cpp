#include "scheduler/structures/max_tree.h"

#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

namespace hios::scheduler {
namespace {

TEST(MaxTree, AgreesWithAPlainList) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "max tree");
    const std::size_t positions = 1 + random.below(100);
    MaxTree tree(positions);
    std::vector<double> plain(positions, MaxTree::kLeast);
    for (int i = 0; i < 300; ++i) {
      const std::size_t position = random.below(positions);
      const bool gone = random.below(4) == 0;
      plain[position] = gone ? MaxTree::kLeast : static_cast<double>(random.below(8));  // ties
      tree.set(position, plain[position]);
      const auto greatest = std::max_element(plain.begin(), plain.end());
      ASSERT_EQ(tree.greatest(), *greatest);
      if (*greatest > MaxTree::kLeast) {
        ASSERT_EQ(tree.first_greatest(), static_cast<std::size_t>(greatest - plain.begin()));
      }
      const std::size_t from = random.below(positions);
      ASSERT_EQ(tree.greatest_from(from),
                *std::max_element(plain.begin() + static_cast<long>(from), plain.end()));
    }
    EXPECT_EQ(tree.greatest_from(10'000), MaxTree::kLeast);
  }
}

}  // namespace
}  // namespace hios::scheduler
