#include "scheduler/structures/position_set.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/random.h"

namespace hios::scheduler {
namespace {

std::optional<std::size_t> next_in(const std::set<std::size_t>& set, std::size_t from) {
  const auto at = set.lower_bound(from);
  return at == set.end() ? std::nullopt : std::optional(*at);
}

std::optional<std::size_t> last_in(const std::set<std::size_t>& set, std::size_t end) {
  const auto at = set.lower_bound(end);
  return at == set.begin() ? std::nullopt : std::optional(*std::prev(at));
}

TEST(PositionSet, AnswersAsAnOrderedSetDoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "positions");
    const std::size_t sizes[] = {1, 63, 64, 65, 4096, 4097, 20000};
    const std::size_t positions = sizes[seed % std::size(sizes)];
    PositionSet set(positions);
    std::set<std::size_t> expected;
    for (int i = 0; i < 400; ++i) {
      const std::size_t position = random.below(positions);
      if (random.below(3) == 0) {
        set.erase(position);
        expected.erase(position);
      } else {
        set.insert(position);
        expected.insert(position);
      }
      const std::size_t asked = random.below(positions + 1);
      ASSERT_EQ(set.next(asked), next_in(expected, asked));
      ASSERT_EQ(set.last_before(asked), last_in(expected, asked));
    }
    set.clear();
    EXPECT_EQ(set.next(0), std::nullopt);
    EXPECT_EQ(set.last_before(positions), std::nullopt);
  }
}

TEST(PositionSet, OfNoPositionIsEmpty) {
  const PositionSet set;
  EXPECT_TRUE(set.none());
  EXPECT_EQ(set.next(0), std::nullopt);
  EXPECT_EQ(set.last_before(0), std::nullopt);
}

}  // namespace
}  // namespace hios::scheduler
