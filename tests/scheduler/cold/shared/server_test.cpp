// Models that share a server, and keepings: whose parameters are the same, and where there is room.
#include "scheduler/cold/shared/server.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/cold/shared/keeping.h"
#include "support/expect_error.h"
#include "support/graphs/served_models.h"

namespace hios::scheduler::cold {
namespace {

using test::served_chain;
using test::served_platform;
using test::ServedModels;

TEST(Server, DividesSharesByTheirSum) {
  const ServedModels served({served_chain("a", {{1, 5}}), served_chain("b", {{1, 5}})},
                            served_platform({0}), {3, 1});
  const Server server = served.server(10);
  EXPECT_DOUBLE_EQ(server.models()[0].share, 0.75);
  EXPECT_DOUBLE_EQ(server.models()[1].share, 0.25);
}

TEST(Server, RefusesSharesThatAreNone) {
  for (const double share : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    const ServedModels served({served_chain("a", {{1, 5}}), served_chain("b", {{1, 5}})},
                              served_platform({0}), {1, share});
    test::expect_error<InputError>([&] { served.server(10); },
                                   {"the share of 'b' is no number above 0"});
  }
}

TEST(Server, RefusesAModelTwice) {
  const ServedModels served({served_chain("a", {{1, 5}}), served_chain("a", {{1, 5}})},
                            served_platform({0}), {1, 1});
  test::expect_error<InputError>([&] { served.server(10); }, {"two models have the name 'a'"});
}

// "v0" has no label in either model: equal names of operators are no equal bytes.
TEST(Server, SharesEqualLabelsAlone) {
  const ServedModels served({served_chain("a", {{1, 5}, {1, 7, "same"}, {1, 3, "v0"}}),
                             served_chain("b", {{1, 5}, {1, 7, "same"}, {1, 7, "same"}})},
                            served_platform({0}), {1, 1});
  const Server server = served.server(100);
  ASSERT_EQ(server.sets().size(), 4u);
  EXPECT_EQ(server.shared(0, 1), server.shared(1, 1));
  EXPECT_NE(server.shared(0, 0), server.shared(1, 0));
  EXPECT_NE(server.shared(0, 2), server.shared(1, 0));
}

TEST(Server, RefusesEqualLabelsOfDifferentSizes) {
  const ServedModels served(
      {served_chain("a", {{1, 5, "same"}}), served_chain("b", {{1, 6, "same"}})},
      served_platform({0}), {1, 1});
  test::expect_error<InputError>([&] { served.server(10); },
                                 {"has parameters 'same' of 6 bytes, and another model has 5"});
}

TEST(Server, ADeviceKeepsNoMoreThanItsMemory) {
  const ServedModels served({served_chain("a", {{1, 5}})}, served_platform({3, 8, 0}), {1});
  const Server server = served.server(6);
  EXPECT_EQ(server.limit(DeviceId(0)), 3u);
  EXPECT_EQ(server.limit(DeviceId(1)), 6u);
  EXPECT_EQ(server.limit(DeviceId(2)), 6u);
  EXPECT_EQ(server.all_limits(), 15u);
}

TEST(Keeping, CountsASharedSetOnce) {
  const ServedModels served(
      {served_chain("a", {{1, 4, "same"}, {1, 3}}), served_chain("b", {{1, 4, "same"}, {1, 2}})},
      served_platform({0, 0}), {1, 1});
  const Server server = served.server(6);
  Keeping keeping(server);
  EXPECT_TRUE(keeping.keep(DeviceId(0), server.shared(0, 0)));
  EXPECT_FALSE(keeping.keep(DeviceId(0), server.shared(1, 0))) << "it is there";
  EXPECT_FALSE(keeping.keep(DeviceId(0), server.shared(0, 1))) << "7 bytes";
  EXPECT_TRUE(keeping.keep(DeviceId(0), server.shared(1, 1)));
  EXPECT_EQ(keeping.room(DeviceId(0)), 0u);
  EXPECT_TRUE(keeping.keep(DeviceId(1), server.shared(0, 0))) << "on another device, too";
  const Held of_a = keeping.held(0), of_b = keeping.held(1);
  EXPECT_EQ(of_a.resident, (std::vector<Resident>{{OpId(0), DeviceId(0)}, {OpId(0), DeviceId(1)}}));
  EXPECT_EQ(of_a.other_bytes, (std::vector<Bytes>{2, 0}));
  EXPECT_EQ(of_b.other_bytes, (std::vector<Bytes>{0, 0}));
  keeping.release(DeviceId(0), server.shared(0, 0));
  EXPECT_EQ(keeping.bytes(DeviceId(0)), 2u);
  EXPECT_TRUE(keeping.anywhere(server.shared(0, 0)));
}

}  // namespace
}  // namespace hios::scheduler::cold
