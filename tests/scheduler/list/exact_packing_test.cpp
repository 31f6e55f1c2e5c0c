#include "scheduler/list/exact_packing.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

namespace hios::scheduler {
namespace {

constexpr std::int64_t kPlenty = 10'000'000;

struct Instance {
  std::vector<Bytes> items, room;
  std::vector<std::vector<bool>> able;
};

ExactPacking packed(const Instance& of, std::int64_t steps = kPlenty) {
  const auto able = [&](std::size_t item, std::size_t device) { return of.able[item][device]; };
  return pack_exactly(of.items, of.room, able, steps);
}

bool keeps_all(const Instance& of, const std::vector<std::size_t>& device) {
  std::vector<Bytes> left = of.room;
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    if (!of.able[i][device[i]] || left[device[i]] < of.items[i]) return false;
    left[device[i]] -= of.items[i];
  }
  return true;
}

/// By every assignment.
bool possible(const Instance& of) {
  std::vector<std::size_t> device(of.items.size(), 0);
  while (true) {
    if (keeps_all(of, device)) return true;
    std::size_t i = 0;
    while (i < device.size() && ++device[i] == of.room.size()) device[i++] = 0;
    if (i == device.size()) return false;
  }
}

/// Few sizes of items and devices, so that many are equal; room for about what there is.
Instance by_chance(Random& random) {
  Instance instance;
  const std::size_t devices = 1 + random.below(4), items = 1 + random.below(devices < 4 ? 8 : 6);
  const bool anywhere = random.below(2) == 0;
  for (std::size_t i = 0; i < items; ++i) {
    instance.items.push_back(random.below(7));
    instance.able.emplace_back();
    for (std::size_t d = 0; d < devices; ++d) {
      instance.able.back().push_back(anywhere || random.below(3) != 0);
    }
  }
  for (std::size_t d = 0; d < devices; ++d) {
    const Bytes share = 3 * items / devices;
    const bool endless = random.below(12) == 0;
    instance.room.push_back(endless ? std::numeric_limits<Bytes>::max() : share + random.below(3));
  }
  return instance;
}

TEST(ExactPacking, KnowsWhatEveryAssignmentTogetherKnows) {
  int found = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "exact packing");
    const Instance instance = by_chance(random);
    const ExactPacking packing = packed(instance);
    ASSERT_EQ(packing.outcome, possible(instance) ? PackingOutcome::kFound : PackingOutcome::kNone);
    if (packing.outcome != PackingOutcome::kFound) {
      ++none;
      continue;
    }
    ++found;
    ASSERT_TRUE(keeps_all(instance, packing.device));
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(none, 1000);
}

TEST(ExactPacking, EndsWhenItsStepsAreUsedUp) {
  // 61 even sizes for two odd devices: every set leaves a byte too many, and there are very many.
  Instance instance;
  Bytes sum = 0;
  for (Bytes i = 0; i < 61; ++i) {
    instance.items.push_back(1000 + 2 * (i * i % 97));
    instance.able.push_back({true, true});
    sum += instance.items.back();
  }
  instance.room = {sum / 2 + 1 - sum / 2 % 2, sum - (sum / 2 + 1 - sum / 2 % 2)};
  EXPECT_EQ(packed(instance, 100'000).outcome, PackingOutcome::kUndecided);
  instance.room[1] -= 1;
  EXPECT_EQ(packed(instance, 100'000).outcome, PackingOutcome::kNone) << "seen without a search";
}

TEST(ExactPacking, TooManyItemsForASearchAreUndecided) {
  Instance instance;
  instance.items.assign(5000, 2);
  instance.able.assign(5000, {true, true});
  instance.room = {5001, 5001};
  EXPECT_EQ(packed(instance).outcome, PackingOutcome::kUndecided);
}

TEST(ExactPacking, SumsBeyondTheLargestNumberAreNoRoom) {
  constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
  const Instance fits{{kMost - 1, kMost - 1}, {kMost - 1, kMost - 1}, {{true, true}, {true, true}}};
  EXPECT_EQ(packed(fits).outcome, PackingOutcome::kFound);
  const Instance full{{kMost - 1, kMost - 1}, {kMost - 1, 5}, {{true, true}, {true, true}}};
  EXPECT_EQ(packed(full).outcome, PackingOutcome::kNone);
}

}  // namespace
}  // namespace hios::scheduler
