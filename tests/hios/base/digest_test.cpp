#include "hios/base/digest.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

namespace hios {
namespace {

TEST(Digest, IsTheSameOnEveryMachine) {
  EXPECT_EQ(Digest().hex(), "cbf29ce48422232584222325cbf29ce4");
  EXPECT_EQ(Digest().add("hios").add(42).hex(), "51c6d2b2a64e3982ba5466a7e904783c");
}

TEST(Digest, DistinguishesFields) {
  const std::set<std::string> digests{
      Digest().hex(),
      Digest().add("").hex(),
      Digest().add("abc").hex(),
      Digest().add("ab").add("c").hex(),
      Digest().add("a").add("bc").hex(),
      Digest().add("abc").add("").hex(),
      Digest().add(std::uint64_t{0}).add(std::uint64_t{0}).hex(),
      Digest().add(std::uint64_t{1} << 63).hex(),
  };
  // add("") and add(0) are the same eight bytes; each field has a fixed type.
  EXPECT_EQ(digests.size(), 8u);
}

TEST(Digest, HasNoCollisionAmongManySmallChanges) {
  std::set<std::string> seen, first_lane, second_lane;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::string hex = Digest().add("edge").add(i / 100).add(i % 100).hex();
    EXPECT_EQ(hex.size(), 32u);
    seen.insert(hex);
    first_lane.insert(hex.substr(0, 16));
    second_lane.insert(hex.substr(16));
  }
  EXPECT_EQ(seen.size(), 20'000u);
  EXPECT_EQ(first_lane.size(), 20'000u);
  EXPECT_EQ(second_lane.size(), 20'000u);
}

}  // namespace
}  // namespace hios
