// Loads that a device is given as one: which, and of how many copies.
#include "engine/cold/device/joined_loads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hios/base/numbers/random.h"

namespace hios {
namespace {

std::byte kept_bytes[4096], device_bytes[4096];

ParameterCopy copy_at(std::size_t from, std::size_t to, Bytes size) {
  return {kept_bytes + from, device_bytes + to, size};
}

TEST(JoinedLoads, NeighboursUpToAWaitAreOneCopy) {
  const Loader::LaneOfCopies loads = {{copy_at(0, 64, 128), copy_at(128, 192, 64)},
                                      {copy_at(192, 256, 64)},
                                      {copy_at(256, 320, 64)},
                                      {copy_at(320, 384, 64)}};
  const auto joined = join_loads(loads, {false, true, false, true});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].first, 0u);
  EXPECT_EQ(joined[0].end, 2u);
  ASSERT_EQ(joined[0].copies.size(), 1u);
  EXPECT_EQ(joined[0].copies[0].from, kept_bytes);
  EXPECT_EQ(joined[0].copies[0].to, device_bytes + 64);
  EXPECT_EQ(joined[0].copies[0].size_bytes, 256u);
  EXPECT_EQ(joined[1].first, 2u);
  EXPECT_EQ(joined[1].end, 4u);
  EXPECT_EQ(joined[1].copies.size(), 1u);
}

TEST(JoinedLoads, OnlyNeighboursAtBothEndsAreJoined) {
  const Loader::LaneOfCopies apart_there = {{copy_at(0, 0, 64)}, {copy_at(64, 128, 64)}};
  EXPECT_EQ(join_loads(apart_there, {false, true}).at(0).copies.size(), 2u);
  const Loader::LaneOfCopies apart_here = {{copy_at(0, 0, 64)}, {copy_at(128, 64, 64)}};
  EXPECT_EQ(join_loads(apart_here, {false, true}).at(0).copies.size(), 2u);
  const Loader::LaneOfCopies swapped = {{copy_at(64, 64, 64)}, {copy_at(0, 0, 64)}};
  EXPECT_EQ(join_loads(swapped, {false, true}).at(0).copies.size(), 2u);
}

TEST(JoinedLoads, ALoadFromAnotherRankHasNoCopies) {
  const Loader::LaneOfCopies loads = {{copy_at(0, 0, 64)}, {}, {copy_at(64, 64, 64)}};
  const auto joined = join_loads(loads, {true, true, true});
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_TRUE(joined[1].copies.empty());
}

// Whatever is joined, each byte goes where it went before, once, and no wait is for more than its
// own load and those before it.
TEST(JoinedLoads, MoveTheSameBytes) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Loader::LaneOfCopies loads(1 + random.below(8));
    std::vector<bool> awaited;
    std::size_t from = 0, to = 0;
    std::vector<std::ptrdiff_t> expected(4096, -1), found(4096, -1);
    const auto note = [](std::vector<std::ptrdiff_t>& sources, const ParameterCopy& copy) {
      for (Bytes i = 0; i < copy.size_bytes; ++i) {
        std::ptrdiff_t& source = sources[static_cast<std::size_t>(copy.to - device_bytes) + i];
        EXPECT_EQ(source, -1) << "written twice";
        source = copy.from - kept_bytes + static_cast<std::ptrdiff_t>(i);
      }
    };
    for (auto& load : loads) {
      for (std::size_t parts = random.below(3); parts > 0; --parts) {
        if (random.below(3) == 0) to += 64;
        load.push_back(copy_at(from, to, 64));
        note(expected, load.back());
        from += 64;
        to += 64;
      }
      awaited.push_back(random.below(2) == 0);
    }
    awaited.back() = true;
    std::size_t next = 0;
    for (const JoinedLoads& joined : join_loads(loads, awaited)) {
      EXPECT_EQ(joined.first, next);
      ASSERT_GT(joined.end, joined.first);
      for (std::size_t i = joined.first; i < joined.end; ++i) {
        EXPECT_EQ(awaited[i], i + 1 == joined.end);
      }
      for (const ParameterCopy& copy : joined.copies) note(found, copy);
      next = joined.end;
    }
    EXPECT_EQ(next, loads.size());
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace hios
