#include "hios/profile/uncertified.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "hios/base/error.h"
#include "support/expect_error.h"

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

TEST(Uncertified, ShardsOnOtherCoresThanTheirsAreRefused) {
  Configuration measured;
  measured.threads = 4;
  EXPECT_NO_THROW(require_certified_cores("net", {4}, measured, "p.json"));
  EXPECT_NO_THROW(require_certified_cores("net", {}, measured, "p.json"));
  test::expect_error<InputError>(
      [&] {
        require_certified_cores("net", {2, 4}, measured, "p.json");
      },
      {"p.json: the shards of net were compared with their whole operators on 4 cores, and stages "
       "may give them 2, 4 cores; measure them with as many streams as the plan has"});
  measured.machine = Json{{"certified_cores", {{"net", {1, 2, 4}}}}};
  EXPECT_NO_THROW(require_certified_cores("net", {2, 4}, measured, "p.json"));
  test::expect_error<InputError>([&] { require_certified_cores("other", {2}, measured, "p.json"); },
                                 {"the shards of other"});
  measured.machine = Json{{"certified_cores", 3}};  // of another type
  EXPECT_NO_THROW(require_certified_cores("net", {4}, measured, "p.json"));
}

TEST(Uncertified, ShardsThatAnotherLibraryComparedAreRefused) {
  Configuration measured;
  const Json here{{"library", "oneDNN 2.6.3"}, {"isa", "avx2"}};
  EXPECT_NO_THROW(require_certified_by(here, measured, "p.json"));
  measured.machine = Json{{"backend", here}};
  EXPECT_NO_THROW(require_certified_by(here, measured, "p.json"));
  EXPECT_NO_THROW(require_certified_by(Json::object(), measured, "p.json"));
  for (const auto& [fact, there] :
       std::map<std::string, std::string>{{"library", "oneDNN 3.2.0"}, {"isa", "avx512_core"}}) {
    measured.machine = Json{{"backend", here}};
    measured.machine["backend"][fact] = there;
    test::expect_error<InputError>(
        [&] { require_certified_by(here, measured, "p.json"); },
        {"p.json: shards were compared with their whole operators by " + there + ", and here is " +
         here.at(fact).get<std::string>() + ": measure them here, or leave out the cuts"});
  }
}

}  // namespace
}  // namespace hios
