#include "hios/evaluate/cold/flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/oracles/cold/plain_max_min.h"

namespace hios {
namespace {

using FlowIds = std::vector<Flows::FlowId>;
using Over = std::vector<BusId>;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kFlowMegabyte = 1e6;  ///< takes 1 ms at 1 GB/s

std::vector<Bus> buses(std::initializer_list<double> speeds) {
  std::vector<Bus> list;
  for (const double speed : speeds) {
    list.push_back({std::string("bus").append(std::to_string(list.size())), speed});
  }
  return list;
}

/// Lets time pass to the next change, and returns the flows that end there.
FlowIds advance(Flows& flows) { return flows.advance(flows.next_change_ms()); }

TEST(Flows, OneTakesItsLatencyAndItsBytes) {
  const Over first{BusId(0)};
  Flows flows(buses({2}));
  EXPECT_TRUE(flows.empty());
  EXPECT_EQ(flows.next_change_ms(), kNever);
  EXPECT_EQ(flows.start({first, 0.5, 8, 3 * kFlowMegabyte}), 0u);
  EXPECT_FALSE(flows.empty());
  EXPECT_EQ(flows.next_change_ms(), 0.5);
  EXPECT_EQ(flows.gb_per_s(0), 0) << "it waits";
  EXPECT_EQ(advance(flows), FlowIds{});
  EXPECT_EQ(flows.gb_per_s(0), 2);
  EXPECT_EQ(flows.next_change_ms(), 0.5 + 1.5);
  EXPECT_EQ(flows.advance(1), FlowIds{}) << "time may stop in between";
  EXPECT_EQ(flows.next_change_ms(), 0.5 + 1.5);
  EXPECT_EQ(advance(flows), FlowIds{0});
  EXPECT_EQ(flows.now_ms(), 2);
  EXPECT_EQ(flows.gb_per_s(0), 0);
  EXPECT_TRUE(flows.empty());
}

// 4 MB and 2 MB over one bus of 2 GB/s: 1 GB/s each until the second has ended at 2 ms; then the
// first has 2 MB left, for 1 ms.
TEST(Flows, ShareABusUntilOneEnds) {
  const Over first{BusId(0)};
  Flows flows(buses({2}));
  flows.start({first, 0, 8, 4 * kFlowMegabyte});
  flows.start({first, 0, 8, 2 * kFlowMegabyte});
  EXPECT_EQ(flows.gb_per_s(0), 1);
  EXPECT_EQ(flows.next_change_ms(), 2);
  EXPECT_EQ(advance(flows), FlowIds{1});
  EXPECT_EQ(flows.gb_per_s(0), 2);
  EXPECT_EQ(flows.next_change_ms(), 3);
  // A third begins to move at 2.5 ms, when the first has 1 MB left.
  flows.start({first, 0.5, 8, kFlowMegabyte / 2});
  EXPECT_EQ(advance(flows), FlowIds{});
  EXPECT_EQ(flows.now_ms(), 2.5);
  EXPECT_EQ(advance(flows), FlowIds{2});
  EXPECT_EQ(flows.now_ms(), 3);
  EXPECT_EQ(advance(flows), FlowIds{0});
  EXPECT_EQ(flows.now_ms(), 3.25);
}

// Buses of 10 and 4 GB/s: one flow over each, and one over both. The narrow bus is full at 2 GB/s
// each; the first flow has the other 8 of the wide one.
TEST(Flows, TakeWhatOthersCannotUse) {
  const Over wide{BusId(0)}, both{BusId(0), BusId(1)}, narrow{BusId(1)};
  Flows flows(buses({10, 4}));
  flows.start({wide, 0, 100, kFlowMegabyte});
  flows.start({both, 0, 100, kFlowMegabyte});
  flows.start({narrow, 0, 100, kFlowMegabyte});
  EXPECT_EQ(flows.gb_per_s(0), 8);
  EXPECT_EQ(flows.gb_per_s(1), 2);
  EXPECT_EQ(flows.gb_per_s(2), 2);
  flows.start({wide, 0, 1, kFlowMegabyte});
  EXPECT_EQ(flows.gb_per_s(0), 7) << "the new flow's own limit is 1";
  EXPECT_EQ(flows.gb_per_s(3), 1);
}

// 2 MB at 1 GB/s, then at a half; meanwhile another on the bus takes what is left.
TEST(Flows, ChangeTheirLimitOnTheWay) {
  const Over bus{BusId(0)};
  Flows flows(buses({2}));
  const Flows::FlowId limited = flows.start({bus, 1, 0.25, 2 * kFlowMegabyte});
  flows.limit(limited, 1);  // while it waits its latency
  const Flows::FlowId other = flows.start({bus, 0, 2, 10 * kFlowMegabyte});
  EXPECT_TRUE(advance(flows).empty());
  EXPECT_DOUBLE_EQ(flows.gb_per_s(limited), 1);
  flows.advance(2);
  flows.limit(limited, 0.5);
  EXPECT_DOUBLE_EQ(flows.gb_per_s(other), 1.5);
  EXPECT_EQ(advance(flows), FlowIds{limited});
  EXPECT_DOUBLE_EQ(flows.now_ms(), 4);
  EXPECT_EQ(advance(flows), FlowIds{other});
  EXPECT_DOUBLE_EQ(flows.now_ms(), 4 + (10.0 - 2 - 1 - 3) / 2);
}

TEST(Flows, WithoutBytesOrBusesEndByLatencyAndLimit) {
  Flows flows(buses({1}));
  const Over first{BusId(0)};
  flows.start({first, 0, 1, 0});
  EXPECT_EQ(flows.next_change_ms(), 0);
  EXPECT_EQ(advance(flows), FlowIds{0});
  flows.start({first, 0, 1, 5 * kFlowMegabyte});
  flows.start({first, 3, 1, 0});
  flows.start({{}, 1, 2, 4 * kFlowMegabyte});
  flows.start({{}, 2, kNever, 4 * kFlowMegabyte});
  EXPECT_EQ(advance(flows), FlowIds{}) << "the fourth moves";
  EXPECT_EQ(advance(flows), FlowIds{}) << "the fifth moves, without any limit";
  EXPECT_EQ(flows.now_ms(), 2);
  EXPECT_EQ(advance(flows), FlowIds{4});
  EXPECT_EQ(flows.now_ms(), 2);
  EXPECT_EQ(flows.gb_per_s(1), 1) << "a flow without bytes uses no bus";
  EXPECT_EQ(advance(flows), (FlowIds{2, 3}));
  EXPECT_EQ(flows.now_ms(), 3);
  EXPECT_EQ(advance(flows), FlowIds{1});
  EXPECT_EQ(flows.now_ms(), 5);
}

TEST(Flows, EndAtOneTimeDespiteRounding) {
  const Over over{BusId(0)};
  Flows flows(buses({0.7}));
  // The second starts when the first has moved a third, and both end together.
  flows.start({over, 0, 100, 0.3 * kFlowMegabyte});
  flows.advance(0.1 / 0.7);
  flows.start({over, 0, 100, 0.3 * kFlowMegabyte - 0.1 * kFlowMegabyte});
  EXPECT_EQ(advance(flows), (FlowIds{0, 1}));
  EXPECT_NEAR(flows.now_ms(), 0.5 / 0.7, 1e-12);
  EXPECT_TRUE(flows.empty());
}

TEST(Flows, EndOnceLessThanAThousandthOfAByteIsLeft) {
  const Over over{BusId(0)};
  Flows flows(buses({1}));
  flows.start({over, 0, 100, kFlowMegabyte});
  flows.start({over, 0, 100, kFlowMegabyte + 0.9e-3});
  flows.start({over, 0, 100, kFlowMegabyte + 1.1e-3});
  flows.start({over, 0, 100, kFlowMegabyte + 100});
  EXPECT_EQ(advance(flows), (FlowIds{0, 1}));
  EXPECT_EQ(flows.now_ms(), 4);
}

// Ten thousand others come and go on its bus, and on another. Its end is a sum of few terms.
TEST(Flows, KeepTheirEndWhileOthersComeAndGo) {
  const Over first{BusId(0)}, second{BusId(1)};
  Flows flows(buses({1, 1}));
  flows.start({second, 0, 1, 1e12});
  flows.start({first, 0, 1, 2e10});
  double next_ms = 0;
  for (std::size_t i = 0; i < 10000; ++i) {
    flows.start({first, 0, 1, 1e5 / 3});
    flows.start({second, 0, 0.25, 1e4 / 3});
    while (flows.next_change_ms() < next_ms + 0.5) advance(flows);
    next_ms += 0.5;
    flows.advance(next_ms);
  }
  // On either bus the first flow ends when its bytes and those of all others have moved.
  std::vector<double> ends;
  while (!flows.empty()) {
    if (!advance(flows).empty()) ends.push_back(flows.now_ms());
  }
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(ends[0], 2e4 + 1e4 / 30, 1e-7);
  EXPECT_NEAR(ends[1], 1e6 + 1e4 / 300, 1e-5);
}

struct RandomFlow {
  Over over;
  double limit = 0, latency_ms = 0, bytes = 0;
};

RandomFlow random_flow(std::size_t bus_count, Random& random) {
  RandomFlow flow;
  for (std::size_t b = 0; b < bus_count; ++b) {
    if (random.below(bus_count) < 2) flow.over.push_back(BusId(b));
  }
  flow.limit =
      random.below(3) == 0 ? static_cast<double>(1 + random.below(3)) : random.uniform(0.1, 20);
  flow.latency_ms = random.below(2) == 0 ? 0 : random.uniform(0, 2);
  flow.bytes = random.uniform(0, 20) * kFlowMegabyte;
  return flow;
}

/// Expects that no flow could be faster without slowing one that is not faster: each is at its own
/// limit, or goes over a full bus on which none is faster. Buses are not overfull.
void expect_fair(std::span<const Bus> all, const std::vector<RandomFlow>& moving,
                 const std::vector<double>& rates) {
  const auto goes_over = [&](std::size_t f, BusId bus) {
    return std::ranges::count(moving[f].over, bus) > 0;
  };
  std::vector<bool> full;
  std::vector<double> fastest(all.size(), 0);
  for (std::size_t b = 0; b < all.size(); ++b) {
    double sum = 0;
    for (std::size_t f = 0; f < moving.size(); ++f) {
      if (!goes_over(f, BusId(b))) continue;
      sum += rates[f];
      fastest[b] = std::max(fastest[b], rates[f]);
    }
    EXPECT_LE(sum, all[b].gb_per_s * (1 + 1e-12));
    full.push_back(sum >= all[b].gb_per_s * (1 - 1e-9));
  }
  for (std::size_t f = 0; f < moving.size(); ++f) {
    EXPECT_LE(rates[f], moving[f].limit * (1 + 1e-12));
    bool limited = rates[f] >= moving[f].limit * (1 - 1e-12);
    for (const BusId bus : moving[f].over) {
      limited |= full[bus.index()] && fastest[bus.index()] <= rates[f] * (1 + 1e-9);
    }
    EXPECT_TRUE(limited) << "flow " << f << " of rate " << rates[f];
  }
}

TEST(Flows, AreMaxMinFairAtEveryMoment) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fair flows");
    std::vector<Bus> all;
    for (std::size_t b = 1 + random.below(8); b > 0; --b) {
      all.push_back({"bus", random.below(2) == 0 ? static_cast<double>(1 + random.below(4))
                                                 : random.uniform(0.5, 20)});
    }
    std::vector<RandomFlow> known;
    for (std::size_t f = 0; f < 30; ++f) known.push_back(random_flow(all.size(), random));
    std::vector<double> capacity;
    for (const Bus& bus : all) capacity.push_back(bus.gb_per_s);
    Flows flows(all);
    std::vector<bool> ended(known.size(), false);
    std::vector<double> moves_from(known.size(), 0);
    for (std::size_t started = 0; started < known.size() || !flows.empty();) {
      if (started < known.size() && (flows.empty() || random.below(2) == 0)) {
        const RandomFlow& next = known[started];
        moves_from[started] = flows.now_ms() + next.latency_ms;
        EXPECT_EQ(flows.start({next.over, next.latency_ms, next.limit, next.bytes}), started++);
      } else {
        for (const Flows::FlowId id : advance(flows)) ended[id] = true;
      }
      if (const std::size_t f = random.below(3 * started); f < started && !ended[f]) {
        known[f].limit = random.uniform(0.1, 20);
        flows.limit(f, known[f].limit);
      }
      std::vector<RandomFlow> moving;
      std::vector<test::PlainFlow> plain;
      std::vector<double> rates;
      for (std::size_t f = 0; f < started; ++f) {
        if (ended[f] || moves_from[f] > flows.now_ms()) continue;
        moving.push_back(known[f]);
        rates.push_back(flows.gb_per_s(f));
        auto& other = plain.emplace_back();
        other.limit = known[f].limit;
        for (const BusId bus : known[f].over) other.over.push_back(bus.index());
      }
      expect_fair(all, moving, rates);
      const std::vector<double> expected = test::plain_max_min_rates(capacity, plain);
      for (std::size_t f = 0; f < rates.size(); ++f) {
        EXPECT_NEAR(rates[f], expected[f], 1e-9 * expected[f]);
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hios
