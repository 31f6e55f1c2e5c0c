#include "mpi/exchange.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/transports/thread_transport.h"

namespace hios::mpi {
namespace {

enum class Colour { kRed, kGreen };

struct Inner {
  std::string name;
  std::vector<double> times;
  bool operator==(const Inner&) const = default;
  static auto fields(auto& self) { return std::tie(self.name, self.times); }
};

struct OneOf : std::variant<Inner, int, double> {
  using variant::variant;
};

struct Outer {
  Rank rank;
  std::int64_t least = 0;
  double value = 0;
  bool flag = false;
  Colour colour = Colour::kRed;
  std::optional<Inner> maybe;
  std::vector<std::vector<Inner>> nested;
  std::map<std::tuple<std::size_t, std::string>, Inner> by_key;
  std::vector<std::pair<std::string, int>> pairs;
  std::vector<bool> bits;
  std::variant<std::monostate, Inner, int> one_of;
  std::vector<OneOf> derived;
  bool operator==(const Outer&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.rank, self.least, self.value, self.flag, self.colour, self.maybe,
                    self.nested, self.by_key, self.pairs, self.bits, self.one_of, self.derived);
  }
};

/// A type with its own conversion.
struct Temperature {
  double kelvin = 0;
};
void to_json(Json& json, const Temperature& value) { json = {{"kelvin", value.kelvin}}; }
void from_json(const Json& json, Temperature& value) { json.at("kelvin").get_to(value.kelvin); }

template <class T>
T there_and_back(const T& value) {
  return exchange::decode<T>(exchange::encode(value));
}

Outer outer_of(std::size_t rank) {
  Outer outer;
  outer.rank = Rank(rank);
  outer.least = std::numeric_limits<std::int64_t>::min();
  outer.value = 0.1 * static_cast<double>(rank + 1);
  outer.flag = rank % 2 == 1;
  outer.colour = Colour::kGreen;
  if (rank > 0) outer.maybe = Inner{"maybe", {1.5, -0.0}};
  outer.nested = {{}, {{"a", {}}, {"", {1e300, 5e-324}}}};
  outer.by_key[{rank, "key"}] = {"value", {double(rank)}};
  outer.by_key[{rank + 1, ""}] = {};
  // Such pairs would turn a braced list of Json into an object.
  outer.pairs = {{"x", 1}, {"y", 2}};
  outer.bits = {true, false, true};
  if (rank > 0) outer.one_of = Inner{"one", {2.5}};
  outer.derived = {Inner{"two", {}}, 3, 4.0};
  return outer;
}

TEST(Exchange, EveryRankHasWhatEveryRankGave) {
  test::run_ranks(3, [](Transport& transport) {
    const std::vector<Outer> all = gather(transport, outer_of(transport.rank().index()));
    ASSERT_EQ(all.size(), 3u);
    for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(all[r], outer_of(r)) << r;
  });
}

TEST(Exchange, OneRanksValueReachesAll) {
  test::run_ranks(3, [](Transport& transport) {
    for (const std::size_t speaker : {0u, 2u}) {
      const Outer mine = outer_of(transport.rank().index());
      EXPECT_EQ(broadcast(transport, mine, Rank(speaker)), outer_of(speaker));
    }
    EXPECT_EQ(broadcast(transport, outer_of(transport.rank().index())), outer_of(0));
  });
}

TEST(Exchange, NumbersArriveAsTheyWere) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.1, 1.0 / 3, 1e308, 5e-324, kInfinity, -kInfinity, -0.0}) {
    EXPECT_EQ(there_and_back(value), value);
    EXPECT_EQ(std::signbit(there_and_back(value)), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(there_and_back(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(there_and_back(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(there_and_back(-1), -1);
  EXPECT_EQ(there_and_back(0.1f), 0.1f);
}

TEST(Exchange, TextsMayHoldAnyByteOrNone) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte.push_back(static_cast<char>(byte));
  EXPECT_EQ(there_and_back(every_byte), every_byte);
  EXPECT_EQ(there_and_back(std::string()), "");
}

TEST(Exchange, EmptyAndAbsentAreNotTheSame) {
  using Maybe = std::optional<std::vector<int>>;
  EXPECT_EQ(there_and_back(Maybe()), Maybe());
  EXPECT_EQ(there_and_back(Maybe(std::vector<int>())), Maybe(std::vector<int>()));
  using Twice = std::optional<std::optional<int>>;
  EXPECT_EQ(there_and_back(Twice(std::optional<int>())), Twice(std::optional<int>()));
}

TEST(Exchange, JsonAndTypesWithTheirOwnConversionTravelToo) {
  const Json json = {{"b", {1, 2.5, nullptr}}, {"a", "text"}};
  EXPECT_EQ(there_and_back(json).dump(), json.dump());  // with the order of the keys
  EXPECT_EQ(there_and_back(std::vector<Temperature>{{273.15}}).at(0).kelvin, 273.15);
}

TEST(Exchange, LargeValuesTravel) {
  test::run_ranks(2, [](Transport& transport) {
    std::vector<double> mine(300000);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = 0.1 * static_cast<double>(i);
    const auto all = gather(transport, transport.rank() == Rank(0) ? mine : std::vector<double>());
    EXPECT_TRUE(all[0] == mine);
    EXPECT_TRUE(all[1].empty());
  });
}

TEST(Exchange, BytesOfSomethingElseAreARunError) {
  test::expect_error<RunError>([] { exchange::decode<Inner>("nonsense"); }, {"arrived damaged"});
  test::expect_error<RunError>([] { exchange::decode<Inner>(exchange::encode(3)); },
                               {"arrived damaged"});
  test::expect_error<RunError>([] { exchange::decode<int>(exchange::encode(std::string("3"))); },
                               {"arrived damaged"});
  using Either = std::variant<int, std::string>;
  test::expect_error<RunError>([] { exchange::decode<Either>(exchange::encode(std::pair(2, 0))); },
                               {"arrived damaged"});
}

}  // namespace
}  // namespace hios::mpi
