#include "scheduler/structures/prefix_sums.h"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"

namespace hios::scheduler {
namespace {

TEST(PrefixSums, AgreesWithAPlainList) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "running sums");
    const std::size_t positions = 1 + random.below(130);
    PrefixSums sums(positions);
    std::vector<double> plain(positions, 0);
    for (int i = 0; i < 200; ++i) {
      const std::size_t position = random.below(positions);
      const auto value = static_cast<double>(random.below(1000));  // sums are exact
      plain[position] += value;
      sums.add(position, value);
      const std::size_t asked = random.below(positions + 1);
      const auto middle = plain.begin() + static_cast<long>(asked);
      ASSERT_EQ(sums.before(asked), std::accumulate(plain.begin(), middle, 0.0));
      ASSERT_EQ(sums.from(asked), std::accumulate(middle, plain.end(), 0.0));
    }
  }
  EXPECT_TRUE(PrefixSums().none());
  EXPECT_FALSE(PrefixSums(1).none());
}

}  // namespace
}  // namespace hios::scheduler
