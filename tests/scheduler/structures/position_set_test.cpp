#include "scheduler/structures/position_set.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

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

TEST(PositionSet, AgreesWithAnOrderedSet) {
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

TEST(PositionSet, YieldsElementsInOrderEitherWay) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "worklist");
    const std::size_t positions = 1 + random.below(6000);
    std::set<std::size_t> expected;
    PositionSet rising(positions), falling(positions), cut(positions);
    for (int i = 0; i < 200; ++i) expected.insert(random.below(positions));
    for (const std::size_t position : expected) {
      rising.insert(position);
      falling.insert(position);
      cut.insert(position);
    }
    std::set<std::size_t> up, down;
    for (auto at = rising.take_next(0); at; at = rising.take_next(*at + 1)) {
      EXPECT_TRUE(up.empty() || *up.rbegin() < *at);
      up.insert(*at);
    }
    for (auto at = falling.take_last_before(positions); at; at = falling.take_last_before(*at)) {
      EXPECT_TRUE(down.empty() || *at < *down.begin());
      down.insert(*at);
    }
    EXPECT_EQ(up, expected);
    EXPECT_EQ(down, expected);
    EXPECT_EQ(rising.next(0), std::nullopt);
    EXPECT_EQ(falling.next(0), std::nullopt);
    const std::size_t from = random.below(positions + 1);
    cut.clear_from(from);
    EXPECT_EQ(cut.next(from), std::nullopt);
    EXPECT_EQ(cut.last_before(positions), last_in(expected, from));
    EXPECT_EQ(cut.next(0),
              from > *expected.begin() ? std::optional(*expected.begin()) : std::nullopt);
  }
}

TEST(PositionSet, TakesPositionsFromEitherEnd) {
  PositionSet set(200);
  for (std::size_t p : {0, 5, 63, 64, 199}) set.insert(p);
  EXPECT_EQ(set.take_next(1), 5u);
  EXPECT_EQ(set.take_next(6), 63u);
  EXPECT_EQ(set.take_last_before(199), 64u);
  EXPECT_EQ(set.take_last_before(200), 199u);
  EXPECT_EQ(set.take_last_before(200), 0u);
  EXPECT_EQ(set.take_last_before(200), std::nullopt);
  set.insert(70);
  set.clear_from(64);
  EXPECT_EQ(set.take_next(0), std::nullopt);
}

TEST(PositionSet, IsEmptyWithoutPositions) {
  const PositionSet set;
  EXPECT_TRUE(set.none());
  EXPECT_EQ(set.next(0), std::nullopt);
  EXPECT_EQ(set.last_before(0), std::nullopt);
}

}  // namespace
}  // namespace hios::scheduler
