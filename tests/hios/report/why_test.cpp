#include "hios/report/why.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/evaluate/simulate.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::stage;

/// The reasons for a schedule on gpu0 and gpu1, by the graph's own costs.
Why why_of(const Graph& graph, const Schedule& schedule,
           const Platform& platform = test::devices(2, 1)) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Timeline timeline = simulate(graph, schedule, costs);
  Why why;
  why.algorithm = "hios-lp";
  for (const Device& device : platform.devices()) why.devices.push_back(device.name);
  why.operator_ms = least_operator_ms(costs);
  why.times = device_times(graph, schedule, timeline, costs);
  why.latency_ms = timeline.latency_ms;
  why.limits = limits_of({&graph, &schedule, &timeline, why.times, &costs}, why.operator_ms);
  return why;
}

using Sentences = std::vector<std::string>;

TEST(Why, NamesTheLongestPathAndItsOperators) {
  const Graph graph = test::small_graph({1, 2, 3, 4, 5, 6, 7},
                                        {{1, 2, 0}, {2, 3, 0}, {3, 4, 0}, {4, 5, 0}, {5, 6, 0}});
  const Schedule schedule{
      {{stage({{1}}), stage({{2}}), stage({{3}}), stage({{4}}), stage({{5}}), stage({{6}})},
       {stage({{7}})}}};
  EXPECT_EQ(sentences(why_of(graph, schedule), graph),
            (Sentences{"hios-lp takes 21.0 ms: the longest path limits it, 21.0 ms, 75 % of the "
                       "work (v2, v3, v4, v5, v6, …)"}));
}

TEST(Why, NamesTransfersAndWaits) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 8}});
  const Why why = why_of(graph, {{{stage({{1}})}, {stage({{2}})}}});
  EXPECT_EQ(sentences(why, graph),
            (Sentences{"hios-lp takes 10.0 ms: transfers limit it, 8.00 ms on its critical path "
                       "(v1 to gpu1 8.00); the longest path is 2.00 ms, 100 % of the work (v1, v2)",
                       "gpu1 waits 9.00 ms of 10.0 for gpu0 (v1)"}));
  EXPECT_EQ(why_text(why, graph),
            "hios-lp takes 10.0 ms: transfers limit it, 8.00 ms on its critical path (v1 to\n"
            "  gpu1 8.00); the longest path is 2.00 ms, 100 % of the work (v1, v2)\n"
            "gpu1 waits 9.00 ms of 10.0 for gpu0 (v1)\n");
}

/// Returns one device to which 1 MB of parameters takes 1 ms.
Platform device_with_store() {
  const Platform alike = test::devices(1, 1);
  return Platform({alike.devices().begin(), alike.devices().end()},
                  {{"dram", "", StoreKind::kMemory}}, {}, {{StoreId(0), test::d0, {}, 0, 1}});
}

// v1's parameters are there at 3 ms, v2's at 8 ms.
TEST(Why, NamesLoadsOfParametersAndTheLaneThatIsWaitedFor) {
  const Graph plain = test::small_graph({1, 1}, {});
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  operators[0].parameter_bytes = 3000000;
  operators[1].parameter_bytes = 5000000;
  const Graph graph("cold", operators, {});
  Schedule schedule{{{stage({{1}}), stage({{2}})}}};
  const StoreId dram(0);
  schedule.weights = Weights{{{{test::v1, dram, test::d0}, {test::v2, dram, test::d0}}}};
  const Why why = why_of(graph, schedule, device_with_store());
  EXPECT_EQ(sentences(why, graph),
            (Sentences{"hios-lp takes 9.00 ms: loads of parameters limit it, 8.00 ms on its "
                       "critical path (v2 to gpu0 5.00, v1 to gpu0 3.00); the longest path is "
                       "1.00 ms, 50 % of the work (v1)",
                       "gpu0 waits 7.00 ms of 9.00 for parameters of lane 0 (v2, v1)"}));
  const Json json = to_json(why, graph);
  EXPECT_EQ(json["limit"], "loads");
  EXPECT_EQ(json["critical_chain"]["loads_ms"], 8);
  EXPECT_EQ(json["critical_chain"]["loads"][1].dump(),
            R"({"operator":"v2","to":0,"lane":0,"ms":5.0})");
  EXPECT_EQ(json["devices"][0]["load_waits"].dump(),
            R"([{"lane":0,"ms":7.0,"operators":["v2","v1"]}])");
  EXPECT_EQ(json["devices"][0]["waiting_ms"], 7);
}

TEST(Why, NamesTheBusiestDevice) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {});
  const Schedule one{{{stage({{1}}), stage({{2}}), stage({{3}}), stage({{4}})}, {}}};
  EXPECT_EQ(sentences(why_of(graph, one), graph),
            (Sentences{
                "hios-lp takes 4.00 ms: the work itself limits it, as gpu0 alone is busy for 100 % "
                "of it; the longest path is 1.00 ms, 25 % of the work (v1)",
                "the plan uses one of two devices: the longest path is 25 % of the work"}));
  const Schedule two{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  EXPECT_EQ(
      sentences(why_of(graph, two), graph),
      (Sentences{"hios-lp takes 2.00 ms: the work itself limits it, as gpu0, the busiest of two "
                 "devices, is busy for 100 % of it; the longest path is 1.00 ms, 25 % of the "
                 "work (v1)"}));
}

TEST(Why, NamesNoSingleLimit) {
  const Graph graph = test::small_graph({4, 4, 4}, {{1, 2, 0}});
  const Why why = why_of(graph, {{{stage({{1}})}, {stage({{2}}), stage({{3}})}}});
  EXPECT_EQ(
      sentences(why, graph),
      (Sentences{"hios-lp takes 12.0 ms: no single limit, as gpu1, the busiest of two devices, is "
                 "busy for 67 % of it, and transfers take 0 % of its critical path; the "
                 "longest path is 8.00 ms, 67 % of the work (v1, v2)",
                 "gpu1 waits 4.00 ms of 12.0 for gpu0 (v1)"}));
}

TEST(Why, NamesFullMemory) {
  std::vector<Operator> operators(2);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].time_ms = 1;
    operators[i].has_time = true;
    operators[i].memory_bytes = 2;
  }
  const Graph graph("heavy", std::move(operators), {});
  const Why why =
      why_of(graph, {{{stage({{1}}), stage({{2}})}, {}}}, test::devices_with_memory({4, 1}));
  EXPECT_EQ(sentences(why, graph),
            (Sentences{"hios-lp takes 2.00 ms: memory limits it, as operators of gpu0 fit nowhere "
                       "else; the longest path is 1.00 ms, 50 % of the work (v1)",
                       "the plan uses one of two devices: the longest path is 50 % of the work"}));
}

TEST(Why, TellsThatOneDeviceIsBest) {
  const Graph graph = test::small_graph({60, 37, 3}, {{1, 2, 0}});
  Why why = why_of(graph, {{{stage({{1}}), stage({{2}}), stage({{3}})}, {}}});
  why.bound_ms = 97;
  why.bound = "critical_path";
  const auto second = [&] { return sentences(why, graph).at(1); };
  EXPECT_EQ(second(),
            "the plan uses one of two devices: the longest path is 97 % of the work, and no plan "
            "on two devices takes less than 97.0 ms (critical_path)");
  why.proven = true;
  why.bound_ms = 100;
  why.bound = "transfers";
  EXPECT_EQ(second(),
            "one device is best here: the longest path is 97 % of the work, and no plan on two "
            "devices takes less than 100 ms (transfers)");
  why.measured = true;
  EXPECT_EQ(second(),
            "one rank is best here: the longest path is 97 % of the work, and no plan on two ranks "
            "takes less than 100 ms (transfers)");
  why.devices = {"gpu0"};
  EXPECT_EQ(sentences(why, graph).size(), 1u) << "there is no other";
}

/// A Why of two ranks without limits.
Why bare_why() {
  Why why;
  why.algorithm = "inter-lp";
  why.measured = true;
  why.devices = {"rank 0", "rank 1"};
  why.latency_ms = 43.97;
  why.times = {{43.9, {}, 0.07}, {31.67, {}, 12.3}};
  return why;
}

TEST(Why, GainsAreRoundedUp) {
  Why why = bare_why();
  why.gains = Gains{DeviceId(0), 66.6, {{2, 42.63, "critical_path"}, {4, 42.63, "critical_path"}}};
  EXPECT_EQ(sentences(why, Graph()),
            (Sentences{"two ranks like rank 0 gain at most 1.57x over one, four 1.57x "
                       "(critical_path)"}));
  why.gains->gains[0] = {2, 44.4, "work"};
  why.gains->quick = true;
  EXPECT_EQ(sentences(why, Graph()),
            (Sentences{"two ranks like rank 0 gain at most 1.50x over one (work), four 1.57x "
                       "(critical_path), by longest path and work alone"}));
  why.gains = Gains{.like = DeviceId(0), .one_ms = 9, .gains = {{2, 3, "work"}}, .serial = false};
  EXPECT_EQ(sentences(why, Graph()),
            (Sentences{"two ranks like rank 0 gain at most 3.00x over one stream (work)"}));
}

TEST(Why, CutsLongNames) {
  std::vector<Operator> operators(1);
  operators[0].name = std::string(3000, 'n');
  operators[0].time_ms = 1;
  operators[0].has_time = true;
  const Graph graph("long", std::move(operators), {});
  Why why = why_of(graph, {{{stage({{1}})}, {}}});
  why.algorithm = std::string(3000, 'a');
  for (std::string& device : why.devices) device = std::string(3000, 'd');
  why.gains = Gains{.like = DeviceId(0), .one_ms = 1, .gains = {{2, 1, "critical_path"}}};
  for (const std::string& sentence : sentences(why, graph))
    EXPECT_LT(sentence.size(), 300u) << sentence;
}

TEST(Why, CallsTheDevicesOfARunRanks) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {});
  Why why = why_of(graph, {{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}});
  why.measured = true;
  why.devices = {"rank 0", "rank 1"};
  EXPECT_NE(sentences(why, graph).front().find("rank 0, the busiest of two ranks, is busy"),
            std::string::npos);
}

TEST(Why, TellsWhetherThreadsAreFaster) {
  Why why = bare_why();
  why.bound_ms = 42.63;
  why.threads = OneRankOfThreads{2, 34.5};
  const auto only = [&] { return sentences(why, Graph()).front(); };
  EXPECT_EQ(only(),
            "two threads of one rank: 34.5 ms predicted, faster than any plan on two ranks (at "
            "least 42.6 ms)");
  why.threads->sequential_ms = 43;
  EXPECT_EQ(only(),
            "two threads of one rank: 43.0 ms predicted, faster than the plan on two ranks (44.0 "
            "ms)");
  why.threads->sequential_ms = 44;
  EXPECT_EQ(only(),
            "two threads of one rank: 44.0 ms predicted, as fast as the plan on two ranks (44.0 "
            "ms)");
  why.threads->sequential_ms = 50;
  EXPECT_EQ(only(),
            "two threads of one rank: 50.0 ms predicted, slower than the plan on two ranks (44.0 "
            "ms)");
}

TEST(Why, TellsTheLongestWaitsOnly) {
  const Graph graph = test::small_graph({1, 1, 1, 1, 1}, {});
  Why why = bare_why();
  why.latency_ms = 100;
  why.devices = {"rank 0", "rank 1", "rank 2", "rank 3"};
  const auto wait = [](std::size_t producer, std::size_t from, double ms) {
    return Wait{OpId(producer - 1), DeviceId(from), ms};
  };
  why.times = {{99.5, {wait(1, 1, 0.5)}, 0},
               {60, {wait(1, 0, 20), wait(2, 2, 15), wait(3, 0, 3), wait(4, 0, 1), wait(5, 0, 1)}},
               {98, {wait(1, 0, 2)}},
               {70, {wait(1, 0, 30)}}};
  EXPECT_EQ(sentences(why, graph),
            (Sentences{"rank 1 waits 25.0 ms of 100 for rank 0 (v1, v3, v4, …), 15.0 for rank 2 "
                       "(v2); rank 3 waits 30.0 ms of 100 for rank 0 (v1); one other waits"}));
  why.times[2].waits[0].ms = 0.5;
  EXPECT_EQ(sentences(why, graph).front().find("other"), std::string::npos);
}

TEST(Why, IsWrittenAsNumbersToo) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 8}});
  Why why = why_of(graph, {{{stage({{1}})}, {stage({{2}})}}});
  why.gains = Gains{DeviceId(0), 2, {{2, 2, "critical_path"}}};
  why.threads = OneRankOfThreads{2, 1.5};
  const Json json = to_json(why, graph);
  EXPECT_EQ(json["limit"], "transfers");
  EXPECT_EQ(json["longest_path"].dump(),
            R"({"ms":2.0,"share_of_work":1.0,"operators":["v1","v2"]})");
  EXPECT_EQ(json["critical_chain"].dump(),
            R"({"stages":2,"stages_ms":2.0,"transfers_ms":8.0,"other_ms":0.0,)"
            R"("transfers":[{"operator":"v1","from":0,"to":1,"ms":8.0}]})");
  EXPECT_EQ(json["devices"][1].dump(),
            R"({"name":"gpu1","busy_ms":1.0,"waiting_ms":9.0,"idle_ms":0.0,)"
            R"("waits":[{"for":0,"ms":9.0,"operators":["v1"]}]})");
  EXPECT_EQ(json["gains"]["bounds"][0]["at_most"], 1.0);
  EXPECT_EQ(json["more_threads"].dump(), R"({"threads":2,"sequential_ms":1.5})");
  EXPECT_EQ(json["sentences"].size(), 4u);
}

}  // namespace
}  // namespace hios
