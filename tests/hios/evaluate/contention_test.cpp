// Links that carry one tensor at a time: simulate() by hand and against the slow simulator, and
// the findings of validate() about an order of transfers.

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/transfers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/slow_simulator.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::d2;
using test::stage;
using test::v1;
using test::v2;
using test::v3;

constexpr Contention kContended[] = {Contention::kLink, Contention::kPort};

Timeline simulated_with(const Graph& graph, Contention contention, const Schedule& schedule) {
  const Platform platform = test::devices(schedule.devices.size(), 8, contention);
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  return simulate(graph, schedule, CostModel::from_graph(graph, platform));
}

/// gpu0 makes v1 and v2, which gpu1 needs for v3 and v4.
Graph two_tensors() { return test::small_graph({2, 1, 1, 1}, {{1, 3, 5}, {2, 4, 4}}); }

TEST(Contention, ALinkCarriesOneTensorAtATime) {
  const Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  EXPECT_EQ(simulated_with(two_tensors(), Contention::kNone, schedule).latency_ms, 9);
  for (const Contention contention : kContended) {
    const Timeline timeline = simulated_with(two_tensors(), contention, schedule);
    ASSERT_EQ(timeline.transfers.size(), 2u);
    EXPECT_EQ(timeline.transfers[0].start_ms, 2);
    EXPECT_EQ(timeline.transfers[0].end_ms, 7);
    EXPECT_EQ(timeline.transfers[1].start_ms, 7) << "v2 was ready at 3";
    EXPECT_EQ(timeline.transfers[1].end_ms, 11);
    EXPECT_EQ(timeline.stages[1][1].ready_ms, 11);
    EXPECT_EQ(timeline.stages[1][1].awaited_ms, 8);
    EXPECT_EQ(timeline.latency_ms, 12);
  }
}

TEST(Contention, PairsHaveLinksOfTheirOwnAndShareTheirPorts) {
  const Graph graph = test::small_graph({1, 1, 1}, {{1, 2, 3}, {1, 3, 3}});
  const Schedule schedule{{{stage({{1}})}, {stage({{2}})}, {stage({{3}})}}};
  EXPECT_EQ(simulated_with(graph, Contention::kLink, schedule).latency_ms, 5);
  const Timeline ported = simulated_with(graph, Contention::kPort, schedule);
  EXPECT_EQ(ported.transfers[0].to, d1) << "of equals the lower destination first";
  EXPECT_EQ(ported.transfers[1].start_ms, 4);
  EXPECT_EQ(ported.latency_ms, 8);
}

TEST(Contention, ADeviceReceivesOneTensorAtATime) {
  const Graph graph = test::small_graph({1, 2, 1}, {{1, 3, 4}, {2, 3, 4}});
  const Schedule schedule{{{stage({{1}})}, {stage({{2}})}, {stage({{3}})}}};
  EXPECT_EQ(simulated_with(graph, Contention::kLink, schedule).latency_ms, 7);
  EXPECT_EQ(simulated_with(graph, Contention::kPort, schedule).latency_ms, 10);
}

TEST(Contention, ADeviceSendsAndReceivesAtTheSameTime) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 4, 3}, {2, 3, 3}});
  const Schedule schedule{{{stage({{1}}), stage({{3}})}, {stage({{2}}), stage({{4}})}}};
  EXPECT_EQ(simulated_with(graph, Contention::kPort, schedule).latency_ms, 5);
}

// v1 is ready first and waits for the port of gpu2 until 11; v2 could go to gpu1 at once.
TEST(Contention, TheFirstReadyTensorGoesFirst) {
  const Graph graph = test::small_graph({2, 1, 1, 1, 1}, {{1, 4, 5}, {2, 5, 4}, {3, 4, 10}});
  const Schedule schedule{
      {{stage({{1}}), stage({{2}})}, {stage({{5}})}, {stage({{4}})}, {stage({{3}})}}};
  const Timeline timeline = simulated_with(graph, Contention::kPort, schedule);
  ASSERT_EQ(timeline.transfers.size(), 3u);
  EXPECT_EQ(timeline.transfers[0].producer, v3);
  EXPECT_EQ(timeline.transfers[1].producer, v1);
  EXPECT_EQ(timeline.transfers[1].start_ms, 11);
  EXPECT_EQ(timeline.transfers[2].producer, v2);
  EXPECT_EQ(timeline.transfers[2].start_ms, 16);
  Schedule other = schedule;
  other.transfers = {{v2, d1}, {v3, d2}, {v1, d2}};
  EXPECT_EQ(simulated_with(graph, Contention::kPort, other).latency_ms, 17);
}

/// A transfer's producer, start and end.
using Sent = std::tuple<OpId, double, double>;

/// Returns the transfers without a list, after a comparison with the slow simulator.
std::vector<Sent> sent(const Graph& graph, Contention contention, const Schedule& schedule) {
  const Timeline timeline = simulated_with(graph, contention, schedule);
  const Platform platform = test::devices(schedule.devices.size(), 8, contention);
  EXPECT_EQ(
      timeline.latency_ms,
      test::slow_latency_ms(graph, schedule, test::plain_costs_of(graph, platform), contention));
  std::vector<Sent> all;
  for (const TransferTimes& each : timeline.transfers)
    all.emplace_back(each.producer, each.start_ms, each.end_ms);
  return all;
}

// docs/formats.md, "Ties": the numbers are those of its example.
TEST(Contention, StagesOfNoTimeEndBeforeTensorsOfTheirMomentAreSent) {
  // gpu0 runs a (1 ms), then z (0 ms); their consumers on gpu1 take 1 ms.
  for (const Contention contention : kContended) {
    const OpId z(0), a(1);
    const Graph z_first = test::small_graph({0, 1, 1, 1}, {{1, 3, 2}, {2, 4, 3}});
    EXPECT_EQ(
        sent(z_first, contention, {{{stage({{2}}), stage({{1}})}, {stage({{3}}), stage({{4}})}}}),
        (std::vector<Sent>{{z, 1, 3}, {a, 3, 6}}));
  }
  for (const Contention contention : kContended) {
    const OpId a(0), z(1);
    const Graph a_first = test::small_graph({1, 0, 1, 1}, {{1, 3, 3}, {2, 4, 2}});
    EXPECT_EQ(
        sent(a_first, contention, {{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}}),
        (std::vector<Sent>{{a, 1, 4}, {z, 4, 6}}));
  }
}

// docs/formats.md, "Transfers of no time": the numbers are those of its example.
TEST(Contention, StagesAfterATransferOfNoTimeEndBeforeTheNextTensorIsSent) {
  // gpu0 runs p (1 ms), then q (0 ms); gpu1 runs w (0 ms), which needs p; gpu2 runs r, which needs
  // w and q.
  const auto times = [](std::size_t w, std::size_t p, std::size_t q) {
    const auto own_ms = [p](std::size_t op) { return op == p ? 1.0 : 0.0; };
    const Graph graph =
        test::small_graph({own_ms(1), own_ms(2), own_ms(3), 1}, {{p, w, 0}, {w, 4, 2}, {q, 4, 3}});
    const Schedule schedule{{{stage({{p}}), stage({{q}})}, {stage({{w}})}, {stage({{4}})}}};
    return sent(graph, Contention::kPort, schedule);
  };
  EXPECT_EQ(times(1, 2, 3), (std::vector<Sent>{{v1, 1, 3}, {v2, 1, 1}, {v3, 3, 6}}));
  EXPECT_EQ(times(2, 1, 3), (std::vector<Sent>{{v1, 1, 1}, {v2, 1, 3}, {v3, 3, 6}}));
  EXPECT_EQ(times(3, 1, 2), (std::vector<Sent>{{v1, 1, 1}, {v2, 1, 4}, {v3, 4, 6}}));
}

TEST(Contention, TheListIsKeptExactly) {
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{4}}), stage({{3}})}}};
  for (const Contention contention : kContended) {
    schedule.transfers = {{v2, d1}, {v1, d1}};
    const Timeline timeline = simulated_with(two_tensors(), contention, schedule);
    EXPECT_EQ(timeline.transfers[0].producer, v2);
    EXPECT_EQ(timeline.transfers[0].start_ms, 3);
    EXPECT_EQ(timeline.transfers[1].start_ms, 7) << "v1 was ready at 2";
    EXPECT_EQ(timeline.latency_ms, 13);
    schedule.transfers.clear();
    EXPECT_EQ(simulated_with(two_tensors(), contention, schedule).latency_ms, 13);
  }
  schedule.transfers = {{v2, d1}, {v1, d1}};
  EXPECT_EQ(simulated_with(two_tensors(), Contention::kNone, schedule).latency_ms, 9)
      << "nothing waits";
}

TEST(Contention, ATensorTravelsOnceAndIsAsLongAsItsSlowestEdge) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 2}, {1, 3, 6}, {1, 4, 1}});
  const Schedule schedule{{{stage({{1}})}, {stage({{2}}), stage({{3}})}, {stage({{4}})}}};
  const Timeline timeline = simulated_with(graph, Contention::kPort, schedule);
  ASSERT_EQ(timeline.transfers.size(), 2u);
  EXPECT_EQ(timeline.transfers[0].end_ms, 7);
  EXPECT_EQ(timeline.transfers[1].start_ms, 7);
  EXPECT_EQ(timeline.stages[1][0].start_ms, 3) << "by its own edge";
  EXPECT_EQ(timeline.stages[1][1].start_ms, 7);
}

std::vector<PlannedTransfer> shuffled(std::vector<PlannedTransfer> transfers, Random& random) {
  for (std::size_t i = transfers.size(); i > 1; --i) {
    std::swap(transfers[i - 1], transfers[random.below(i)]);
  }
  return transfers;
}

void expect_one_at_a_time(const Timeline& timeline, Contention contention) {
  for (const TransferTimes& a : timeline.transfers) {
    for (const TransferTimes& b : timeline.transfers) {
      if (&a == &b || a.start_ms > b.start_ms) continue;
      const bool compete = contention == Contention::kLink ? a.from == b.from && a.to == b.to
                                                           : a.from == b.from || a.to == b.to;
      if (compete && a.start_ms < b.start_ms) {
        EXPECT_LE(a.end_ms, b.start_ms);
      }
    }
  }
}

/// Expects that each stage starts as soon as its inputs are there and its device is free.
void expect_stages_when_ready(const Timeline& timeline) {
  for (const auto& stages : timeline.stages) {
    double free = 0;
    for (const StageTimes& times : stages) {
      EXPECT_EQ(times.awaited_ms, free);
      EXPECT_EQ(times.start_ms, std::max(times.ready_ms, free));
      free = times.end_ms;
    }
  }
}

TEST(Contention, AgreesWithTheSlowSimulatorOnRandomSchedules) {
  std::size_t orders = 0, deadlocks = 0, delayed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "contention");
    test::CostStyle style;
    style.overlap = seed % 3 != 0;
    style.small_integers = seed % 4 == 0;
    const Graph graph = test::random_graph(2 + random.below(14), 0.25, style, random);
    const std::size_t count = 2 + random.below(3);
    const int streams = 1 + static_cast<int>(random.below(3));
    Schedule schedule = test::random_schedule(graph, test::devices(count, streams), random);
    const Platform apart = test::devices(count, streams);
    const double alone = simulate(graph, schedule, CostModel::from_graph(graph, apart)).latency_ms;
    const auto transfers = transfers_of(graph, Assignment(graph.size(), schedule));
    for (const Contention contention : kContended) {
      SCOPED_TRACE(to_string(contention));
      const Platform platform = test::devices(count, streams, contention);
      const CostModel costs = CostModel::from_graph(graph, platform);
      const test::PlainCosts plain_costs = test::plain_costs_of(graph, platform);
      for (int order = 0; order < 4; ++order) {
        schedule.transfers.clear();
        if (order > 0) schedule.transfers = shuffled(transfers, random);
        const auto slow = test::slow_latency_ms(graph, schedule, plain_costs, contention);
        const auto findings = validate(graph, platform, schedule);
        ASSERT_EQ(findings.empty(), slow.has_value());
        orders += order > 0;
        if (!slow) {
          ++deadlocks;
          EXPECT_EQ(findings.front().rule, Rule::kCycle);
          EXPECT_THROW(simulate(graph, schedule, costs), std::logic_error);
          continue;
        }
        const Timeline timeline = simulate(graph, schedule, costs);
        EXPECT_DOUBLE_EQ(timeline.latency_ms, *slow);
        EXPECT_GE(timeline.latency_ms, alone);
        delayed += timeline.latency_ms > alone;
        EXPECT_EQ(timeline.transfers.size(), transfers.size());
        if (!style.small_integers) expect_one_at_a_time(timeline, contention);
        expect_stages_when_ready(timeline);
        // Sent in the order in which they went, nothing changes.
        schedule.transfers.clear();
        for (const TransferTimes& sent : timeline.transfers) {
          schedule.transfers.push_back({sent.producer, sent.to});
        }
        if (style.small_integers) continue;  // equal starts may be in another order
        EXPECT_EQ(simulate(graph, schedule, costs), timeline);
      }
    }
  }
  EXPECT_GT(deadlocks, 100u);
  EXPECT_LT(deadlocks, orders - 100);
  EXPECT_GT(delayed, 300u);
}

/// Expects exactly one finding, of this rule, whose line has all of these parts.
void expect_line(const Schedule& schedule, Contention contention, Rule rule,
                 std::initializer_list<std::string_view> parts) {
  const Platform platform = test::devices(2, 8, contention);
  const auto findings = validate(two_tensors(), platform, schedule);
  ASSERT_EQ(findings.size(), 1u) << (findings.empty() ? "nothing" : findings.back().text);
  EXPECT_EQ(findings[0].rule, rule);
  const std::string line = finding_line("s.json", findings[0]);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  for (const std::string_view part : parts) {
    EXPECT_NE(line.find(part), std::string::npos) << "no '" << part << "' in: " << line;
  }
}

TEST(Contention, AListNamesAllTransfersOnce) {
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  for (const Contention contention : {Contention::kNone, Contention::kLink, Contention::kPort}) {
    schedule.transfers = {{v1, d1}};
    expect_line(schedule, contention, Rule::kTransferMissing,
                {"s.json: $.transfers: ", "the transfer of v2 to gpu1 is not listed"});
    schedule.transfers = {{v1, d1}, {v2, d1}, {v1, d1}};
    expect_line(schedule, contention, Rule::kTransferTwice,
                {"$.transfers[2]: ", "v1 to gpu1 is listed already, at index 0"});
    schedule.transfers = {{v1, d1}, {v3, d0}, {v2, d1}};
    expect_line(schedule, contention, Rule::kTransferUnneeded,
                {"$.transfers[1]: ", "no operator there reads v3"});
    schedule.transfers = {{v1, d0}, {v1, d1}, {v2, d1}};
    expect_line(schedule, contention, Rule::kTransferUnneeded,
                {"$.transfers[0]: ", "v1 runs there itself"});
  }
}

TEST(Contention, ATransferThatIsListedThreeTimesIsReportedTwiceWithItsFirstIndex) {
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  schedule.transfers = {{v2, d1}, {v1, d1}, {v1, d1}, {v1, d1}};
  const auto findings = validate(two_tensors(), test::devices(2, 8, Contention::kLink), schedule);
  ASSERT_EQ(findings.size(), 2u);
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.text.find("is listed already, at index 1"), std::string::npos)
        << finding.text;
  }
}

TEST(Contention, AnOrderThatWaitsForItselfIsFound) {
  // gpu1 runs v3 before v5; v5's output is listed first, and v3's input after it.
  const Graph graph = test::small_graph({1, 1, 1}, {{1, 2, 1}, {2, 3, 1}});
  Schedule schedule{{{stage({{1}}), stage({{3}})}, {stage({{2}})}}};
  schedule.transfers = {{v2, d0}, {v1, d1}};
  EXPECT_TRUE(validate(graph, test::devices(2, 1, Contention::kPort), schedule).empty())
      << "another sender, another receiver";
  const Graph back = test::small_graph({1, 1, 1, 1}, {{1, 2, 1}, {2, 3, 1}, {3, 4, 1}});
  schedule = {{{stage({{1}}), stage({{3}})}, {stage({{2}}), stage({{4}})}}};
  schedule.transfers = {{v3, d1}, {v2, d0}, {v1, d1}};
  for (const Contention contention : kContended) {
    const auto findings = validate(back, test::devices(2, 1, contention), schedule);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].rule, Rule::kCycle);
    EXPECT_EQ(finding_line("s.json", findings[0]),
              "s.json: $.transfers[2]: cyclic wait: the transfer of v1 to gpu1 comes after the "
              "transfer of v3 to gpu1, which needs stage 1 of gpu0, which needs the transfer of v2 "
              "to gpu0, which needs stage 0 of gpu1, which needs the transfer of v1 to gpu1");
  }
  EXPECT_TRUE(validate(back, test::devices(2, 1, Contention::kNone), schedule).empty());
}

}  // namespace
}  // namespace hios
