#include "hios/profile/uncertified.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hios/base/error.h"

namespace hios {
namespace {

TEST(Uncertified, AShardThatTheProfileListsIsRefusedByItsName) {
  Operator whole, shard;
  whole.name = "a";
  whole.signature = "1x8";
  shard.name = "b [0, 4)";
  shard.signature = "1x4";
  const Graph graph("two", {whole, shard}, {});
  Configuration measured;
  EXPECT_EQ(uncertified_shard(graph, measured), std::nullopt);
  measured.machine = Json{{"uncertified", {"1x4", "1x5"}}};
  EXPECT_TRUE(is_uncertified("1x5", measured));
  EXPECT_FALSE(is_uncertified("1x8", measured));
  EXPECT_EQ(uncertified_shard(graph, measured), OpId(1));
  try {
    require_certified(graph, measured, "p.json");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "p.json: \"b [0, 4)\" does not give the bits of its whole operator, as the profile "
              "found; leave it out of the cuts");
  }
}

}  // namespace
}  // namespace hios
