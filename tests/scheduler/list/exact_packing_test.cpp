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

ExactPacking packed(const Instance& instance, std::int64_t steps = kPlenty) {
  const auto able = [&](std::size_t item, std::size_t device) {
    return instance.able[item][device];
  };
  return pack_exactly(instance.items, instance.room, able, steps);
}

bool keeps_all(const Instance& instance, const std::vector<std::size_t>& device) {
  std::vector<Bytes> left = instance.room;
  for (std::size_t i = 0; i < instance.items.size(); ++i) {
    if (!instance.able[i][device[i]] || left[device[i]] < instance.items[i]) return false;
    left[device[i]] -= instance.items[i];
  }
  return true;
}

/// Returns true if a packing exists, by trying every assignment.
bool has_packing(const Instance& instance) {
  std::vector<std::size_t> device(instance.items.size(), 0);
  while (true) {
    if (keeps_all(instance, device)) return true;
    std::size_t i = 0;
    while (i < device.size() && ++device[i] == instance.room.size()) device[i++] = 0;
    if (i == device.size()) return false;
  }
}

/// Returns an instance with few different sizes of items and devices, so that many are equal, and
/// total room close to the total size.
Instance random_instance(Random& random) {
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

TEST(ExactPacking, AgreesWithTryingEveryAssignment) {
  int found = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "exact packing");
    const Instance instance = random_instance(random);
    const ExactPacking packing = packed(instance);
    ASSERT_EQ(packing.outcome,
              has_packing(instance) ? PackingOutcome::kFound : PackingOutcome::kNone);
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
  // 61 even sizes on two odd devices: every set leaves a byte too many, and there are 2^61 sets.
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
