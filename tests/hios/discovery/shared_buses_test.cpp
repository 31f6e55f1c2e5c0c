// Shared buses inferred from rates of routes alone, in pairs and all at once.

#include "hios/discovery/shared_buses.h"

#include <gtest/gtest.h>

#include <random>

#include "hios/evaluate/cold/flows.h"

namespace hios::discovery {
namespace {

/// Routes with rates of their own, over buses: a machine that can be measured exactly.
struct Truth {
  std::vector<double> alone;
  std::vector<SharedBus> buses;
};

/// Returns the rates of these routes while they carry bytes together; those of others are 0.
std::vector<double> rates_of(const Truth& truth, const std::vector<std::size_t>& active) {
  std::vector<Bus> buses;
  for (const SharedBus& bus : truth.buses) buses.push_back({"", bus.gb_per_s});
  std::vector<std::vector<BusId>> over(truth.alone.size());
  for (std::size_t b = 0; b < buses.size(); ++b) {
    for (const std::size_t route : truth.buses[b].routes) over[route].push_back(BusId(b));
  }
  Flows flows(buses);
  for (const std::size_t route : active)
    flows.start({.over = over[route], .gb_per_s = truth.alone[route], .bytes = 1e15});
  std::vector<double> rates(truth.alone.size(), 0);
  for (std::size_t i = 0; i < active.size(); ++i) rates[active[i]] = flows.gb_per_s(i);
  return rates;
}

/// Returns what a measurement of these routes gives. `noise` returns a factor for each figure.
template <class Noise>
RouteRates measured(const Truth& truth, Noise noise) {
  const std::size_t count = truth.alone.size();
  RouteRates rates;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) {
    rates.alone.push_back(rates_of(truth, {i})[i] * noise());
    rates.pairs.emplace_back(count, 0.0);
    all.push_back(i);
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const std::vector<double> both = rates_of(truth, {i, j});
      rates.pairs[i][j] = both[i] * noise();
      rates.pairs[j][i] = both[j] * noise();
    }
  }
  rates.together = rates_of(truth, all);
  for (double& rate : rates.together) rate *= noise();
  return rates;
}

RouteRates measured(const Truth& truth) {
  return measured(truth, [] { return 1.0; });
}

using Routes = std::vector<std::size_t>;

TEST(SharedBuses, IndependentRoutesShareNone) {
  EXPECT_TRUE(shared_buses(measured({{12, 12, 3}, {}})).empty());
  EXPECT_TRUE(shared_buses(measured({{12}, {}})).empty());
  EXPECT_TRUE(shared_buses({}).empty());
}

TEST(SharedBuses, TwoRoutesThatHalveEachOtherShareOne) {
  const auto buses = shared_buses(measured({{12, 12}, {{{0, 1}, 12}}}));
  ASSERT_EQ(buses.size(), 1u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1}));
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 12);
}

TEST(SharedBuses, ThreeRoutesShareOneBusAndNotThree) {
  const auto buses = shared_buses(measured({{12, 12, 12}, {{{0, 1, 2}, 12}}}));
  ASSERT_EQ(buses.size(), 1u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1, 2}));
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 12);
}

// The V100 server: two switches with two cards each.
TEST(SharedBuses, TwoBusesOfTwoRoutes) {
  const auto buses = shared_buses(measured({{12, 12, 12, 12}, {{{0, 1}, 12}, {{2, 3}, 12}}}));
  ASSERT_EQ(buses.size(), 2u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1}));
  EXPECT_EQ(buses[1].routes, (Routes{2, 3}));
}

TEST(SharedBuses, ARouteOverTwoBusesJoinsNoRoutesOfDifferentOnes) {
  const auto buses = shared_buses(measured({{10, 10, 10}, {{{0, 1}, 10}, {{1, 2}, 14}}}));
  ASSERT_EQ(buses.size(), 2u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1}));
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 10);
  EXPECT_EQ(buses[1].routes, (Routes{1, 2}));
  EXPECT_DOUBLE_EQ(buses[1].gb_per_s, 14);
}

// Two cards below a switch, and a third one, all fed by memory that is not fast enough for two.
TEST(SharedBuses, ANarrowBusLiesWithinAWiderOne) {
  const auto buses = shared_buses(measured({{12, 12, 12}, {{{0, 1}, 12}, {{0, 1, 2}, 18}}}));
  ASSERT_EQ(buses.size(), 2u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1}));
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 12);
  EXPECT_EQ(buses[1].routes, (Routes{0, 1, 2}));
  EXPECT_NEAR(buses[1].gb_per_s, 18, 1e-9);
}

// Memory that feeds two cards at full rate, and not three.
TEST(SharedBuses, ABusThatTwoRoutesDoNotFillIsSeenAllAtOnce) {
  const Truth truth{{10, 10, 10}, {{{0, 1, 2}, 20}}};
  const auto buses = shared_buses(measured(truth));
  ASSERT_EQ(buses.size(), 1u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1, 2}));
  EXPECT_NEAR(buses[0].gb_per_s, 20, 1e-9);
  RouteRates pairs_only = measured(truth);
  pairs_only.together.clear();
  EXPECT_TRUE(shared_buses(pairs_only).empty());
}

TEST(SharedBuses, UnlikeRoutesFillOneBusTogether) {
  const auto buses = shared_buses(measured({{10, 6}, {{{0, 1}, 12}}}));
  ASSERT_EQ(buses.size(), 1u);
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 12);
}

// A loss of exactly the noise is noise.
TEST(SharedBuses, ALossOfTheNoiseItselfIsNone) {
  RouteRates rates{{8, 8}, {{0, 6}, {6, 0}}, {}};
  EXPECT_TRUE(shared_buses(rates, 0.25).empty());
  rates.pairs[0][1] = 5.99;
  EXPECT_EQ(shared_buses(rates, 0.25).size(), 1u);
}

// Two readers may make a disk slower than one: the bus still carries what one gets.
TEST(SharedBuses, ABusCarriesWhatEachOfItsRoutesGetsAlone) {
  const auto buses = shared_buses({{2, 2}, {{0, 0.6}, {0.6, 0}}, {0.6, 0.6}});
  ASSERT_EQ(buses.size(), 1u);
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 2);
}

// All at once, the routes of a bus are slower than pairs said: the narrower figure is enough.
TEST(SharedBuses, ABusWithinAnotherThatIsNotFasterIsLeftOut) {
  RouteRates rates = measured({{8, 8, 8}, {{{0, 1, 2}, 12}}});
  rates.together = {3, 3, 3};
  const auto buses = shared_buses(rates);
  ASSERT_EQ(buses.size(), 1u);
  EXPECT_EQ(buses[0].routes, (Routes{0, 1, 2}));
  EXPECT_DOUBLE_EQ(buses[0].gb_per_s, 9);
}

TEST(SharedBuses, NoiseChangesNoSharing) {
  const Truth server{{12, 12, 12, 12, 3}, {{{0, 1}, 12}, {{2, 3}, 12}}};
  const Truth one_bus{{10, 10, 10, 10}, {{{0, 1, 2, 3}, 11}}};
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> factor(0.96, 1.04);
  const auto noise = [&] { return factor(random); };
  for (int round = 0; round < 200; ++round) {
    const auto buses = shared_buses(measured(server, noise));
    ASSERT_EQ(buses.size(), 2u) << "round " << round << " of seed 17";
    EXPECT_EQ(buses[0].routes.size() + buses[1].routes.size(), 4u);
    for (const SharedBus& bus : buses) {
      EXPECT_TRUE(bus.routes == (Routes{0, 1}) || bus.routes == (Routes{2, 3})) << round;
      EXPECT_NEAR(bus.gb_per_s, 12, 0.8);
    }
    const auto of_one = shared_buses(measured(one_bus, noise));
    ASSERT_EQ(of_one.size(), 1u) << "round " << round << " of seed 17";
    EXPECT_EQ(of_one[0].routes, (Routes{0, 1, 2, 3}));
    EXPECT_NEAR(of_one[0].gb_per_s, 11, 0.8);
  }
}

}  // namespace
}  // namespace hios::discovery
