#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "hios/base/digest.h"
#include "hios/base/json/json_text.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "hios/platform/platform_json.h"
#include "support/message.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

constexpr Bytes kMiB = Bytes{1} << 20;

RandomProblem problem(const std::string& words, std::size_t devices) {
  return random_problem(parse_random_dag(words), Platform::homogeneous(devices, "gpu", 0, 8));
}

Bytes held_by(const Operator& op) { return op.memory_bytes + op.parameter_bytes; }

Bytes needed(const Graph& graph) {
  Bytes sum = 0;
  for (const Operator& op : graph.operators()) sum += held_by(op);
  return sum;
}

TEST(RandomProblem, IsTheNetworkWithoutParametersOfDevices) {
  for (const char* words :
       {"n=50,seed=2", "family=chain,seed=2", "allowed=0,colocate=0,speeds=1x3"}) {
    RandomDag parameters = parse_random_dag(words);
    const Platform platform = Platform::homogeneous(3, "cpu", 1, 8);
    const RandomProblem made = random_problem(parameters, platform);
    parameters.devices = {};
    EXPECT_EQ(to_text(to_json(made.graph)), to_text(to_json(random_dag(parameters)))) << words;
    EXPECT_EQ(to_json(made.platform), to_json(platform)) << words;
  }
}

TEST(RandomProblem, IsTheSameOnEveryMachine) {
  const RandomProblem made =
      problem("n=60,seed=3,speeds=1:1:0.25,memory=1.02,allowed=0.2,colocate=0.3", 3);
  EXPECT_EQ(Digest().add(to_text(to_json(made.graph))).hex(), "92450665427486f6ccce26acb7e9d2fb");
  EXPECT_EQ(Digest().add(to_text(to_json(made.platform))).hex(),
            "0dba4160724168b5582bcd936d8eb081");
}

/// A rule takes nothing from the others: what it does not say stays as it was.
TEST(RandomProblem, RulesAreIndependent) {
  const RandomProblem all =
      problem("n=60,seed=3,speeds=1:1:0.25,memory=1.5,allowed=0.2,colocate=0.3", 3);
  const Graph plain = problem("n=60,seed=3", 3).graph;
  const Graph fast = problem("n=60,seed=3,speeds=1:1:0.25", 3).graph;
  const Graph sized = problem("n=60,seed=3,memory=3", 3).graph;
  const Graph labelled = problem("n=60,seed=3,colocate=0.3", 3).graph;
  for (std::size_t i = 0; i < 60; ++i) {
    const OpId v(i);
    EXPECT_EQ(all.graph.op(v).time_by_device, fast.op(v).time_by_device);
    EXPECT_EQ(all.graph.op(v).utilization, plain.op(v).utilization);
    EXPECT_EQ(all.graph.op(v).memory_bytes, sized.op(v).memory_bytes);
    EXPECT_EQ(all.graph.op(v).parameter_bytes, sized.op(v).parameter_bytes);
    EXPECT_EQ(all.graph.op(v).colocate, labelled.op(v).colocate);
  }
  ASSERT_EQ(all.graph.edge_count(), plain.edge_count());
  for (std::size_t i = 0; i < plain.edge_count(); ++i) {
    const Edge &edge = all.graph.edge(EdgeId(i)), &same = plain.edge(EdgeId(i));
    EXPECT_EQ(edge.from, same.from);
    EXPECT_EQ(edge.to, same.to);
    EXPECT_EQ(edge.transfer_ms, same.transfer_ms) << "a share of the time at speed 1";
    EXPECT_EQ(edge.size_bytes, all.graph.op(edge.from).memory_bytes);
  }
}

TEST(RandomProblem, ATimeIsTheNetworksOverTheSpeed) {
  const Graph plain = problem("n=30", 3).graph;
  const Graph unlike = problem("n=30,speeds=2:1x1:0.25", 3).graph;
  const Graph twice = problem("n=30,speeds=2x3", 3).graph;
  for (std::size_t v = 0; v < plain.size(); ++v) {
    const double ms = plain.op(OpId(v)).time_ms;
    EXPECT_FALSE(unlike.op(OpId(v)).has_time);
    EXPECT_EQ(unlike.op(OpId(v)).time_by_device,
              (std::map<std::string, double, std::less<>>{
                  {"gpu0", ms / 2}, {"gpu1", ms}, {"gpu2", ms / 0.25}}));
    EXPECT_TRUE(twice.op(OpId(v)).has_time) << "one time where all are alike";
    EXPECT_EQ(twice.op(OpId(v)).time_ms, ms / 2);
  }
}

TEST(RandomProblem, SharesOfOperatorsAreAsGiven) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, "shares");
    const std::size_t n = 4 + random.below(100), devices = 2 + random.below(5);
    RandomDag parameters{.operators = n, .layers = 3, .seed = seed};
    parameters.devices.colocate = random.uniform();
    parameters.devices.allowed = random.uniform();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph =
        random_problem(parameters, Platform::homogeneous(devices, "gpu", 0, 1)).graph;
    std::map<std::string, std::vector<const Operator*>> labels;
    std::size_t restricted = 0;
    for (const Operator& op : graph.operators()) {
      if (!op.colocate.empty()) labels[op.colocate].push_back(&op);
      restricted += !op.allowed.empty();
      EXPECT_LT(op.allowed.size(), devices);
      EXPECT_EQ(std::set<std::string>(op.allowed.begin(), op.allowed.end()).size(),
                op.allowed.size());
    }
    std::size_t labelled = 0;
    for (const auto& [name, members] : labels) {
      EXPECT_GE(members.size(), 2u);
      EXPECT_LE(members.size(), 4u);
      labelled += members.size();
      for (const Operator* op : members) EXPECT_EQ(op->allowed, members.front()->allowed);
    }
    const double wanted = parameters.devices.colocate * static_cast<double>(n);
    EXPECT_LE(std::abs(static_cast<double>(labelled) - wanted), wanted < 1.5 ? 1.5 : 0.5);
    const double share = parameters.devices.allowed * static_cast<double>(n);
    EXPECT_GE(static_cast<double>(restricted), share - 0.5);
    EXPECT_LE(static_cast<double>(restricted), share + 3.5) << "labels come whole";
  }
}

/// Puts units on devices in any way that labels and allowed devices leave, until all have room.
class Packing {
 public:
  explicit Packing(const RandomProblem& made) : graph_(made.graph), platform_(made.platform) {
    std::map<std::string, std::size_t> by_label;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const Operator& op = graph_.op(OpId(v));
      const auto known = by_label.find(op.colocate);
      if (!op.colocate.empty() && known != by_label.end()) {
        units_[known->second].push_back(OpId(v));
        continue;
      }
      if (!op.colocate.empty()) by_label[op.colocate] = units_.size();
      units_.push_back({OpId(v)});
    }
    for (const Device& device : platform_.devices()) room_.push_back(device.memory_bytes);
  }

  bool possible(std::size_t unit = 0) {
    if (unit == units_.size()) return true;
    Bytes bytes = 0;
    for (const OpId op : units_[unit]) bytes += held_by(graph_.op(op));
    for (std::size_t d = 0; d < room_.size(); ++d) {
      if (bytes > room_[d] || !may_run(graph_.op(units_[unit][0]), platform_.device(DeviceId(d))))
        continue;
      room_[d] -= bytes;
      const bool rest = possible(unit + 1);
      room_[d] += bytes;
      if (rest) return true;
    }
    return false;
  }

 private:
  const Graph& graph_;
  const Platform& platform_;
  std::vector<std::vector<OpId>> units_;
  std::vector<Bytes> room_;
};

/// Also with nothing to spare, labels and devices that are not allowed.
TEST(RandomProblem, MemoryIsEnoughForSomePlacement) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed, "placements");
    const std::size_t devices = 1 + random.below(4);
    RandomDag parameters{
        .operators = 1 + random.below(11), .seed = seed, .family = RandomDag::Family::kIndependent};
    const double memory[] = {1, 1.01, 1.02, 1.05, 3};
    parameters.devices.memory = memory[seed % 5];
    parameters.devices.colocate = random.uniform();
    if (devices > 1) parameters.devices.allowed = random.uniform();
    const RandomProblem made =
        random_problem(parameters, Platform::homogeneous(devices, "gpu", 0, 1));
    Bytes limits = 0;
    for (const Device& device : made.platform.devices()) {
      EXPECT_GT(device.memory_bytes, 0u) << "0 would be no limit";
      limits += device.memory_bytes;
    }
    EXPECT_NEAR(static_cast<double>(limits),
                *parameters.devices.memory * static_cast<double>(needed(made.graph)),
                static_cast<double>(devices));
    for (const Operator& op : made.graph.operators()) {
      EXPECT_EQ(held_by(op) % kMiB, 0u);
      EXPECT_TRUE(op.memory_bytes >= kMiB && op.memory_bytes <= 8 * kMiB);
      EXPECT_LE(op.parameter_bytes, 16 * kMiB);
    }
    EXPECT_TRUE(Packing(made).possible());
  }
}

TEST(RandomProblem, MemoryIsSharedAboutEqually) {
  const RandomProblem made = problem("n=500,memory=1.1,seed=4", 8);
  for (const Device& device : made.platform.devices()) {
    EXPECT_NEAR(static_cast<double>(device.memory_bytes),
                1.1 * static_cast<double>(needed(made.graph)) / 8, 25.0 * kMiB);
  }
}

TEST(RandomProblem, ServesAThousandDevices) {
  const RandomProblem made =
      problem("n=300,speeds=1x500:0.25x500,memory=1,allowed=0.1,colocate=0.1", 1000);
  EXPECT_EQ(made.platform.size(), 1000u);
  EXPECT_EQ(made.graph.op(OpId(0)).time_by_device.size(), 1000u);
  EXPECT_EQ(parse_random_dag("speeds=1x500:0.25x500").device_names(1000), 200u * 1000);
  EXPECT_EQ(parse_random_dag("speeds=2x1000,allowed=0.5").device_names(1000), 200u * 250);
  EXPECT_EQ(parse_random_dag("memory=2").device_names(1000), 0u);
}

TEST(RandomProblem, KeepsThePlatformAndTheLimitsThatItWouldGive) {
  const std::vector<Device> devices = {{"big", "gpu", 0, 4, 0, "n1"},
                                       {"small", "cpu", 2, 1, 0, ""}};
  const Platform platform(devices, {{DeviceId(0), DeviceId(1), {0.1, 12}}}, Link{0.2, 3});
  const RandomDag parameters = parse_random_dag("n=20,speeds=1:0.1,memory=1.1");
  const RandomProblem made = random_problem(parameters, platform);
  EXPECT_EQ(made.platform.links().size(), 1u);
  EXPECT_EQ(made.platform.default_link(), (Link{0.2, 3}));
  EXPECT_EQ(made.platform.device(DeviceId(0)).host, "n1");
  EXPECT_TRUE(made.graph.op(OpId(0)).time_by_device.contains("small"));
  const RandomProblem again = random_problem(parameters, made.platform);
  EXPECT_EQ(to_json(again.platform), to_json(made.platform));
  const RandomDag other = parse_random_dag("n=20,speeds=1:0.1,memory=1.2");
  expect_message(message_of([&] { random_problem(other, made.platform); }),
                 "random network, memory: would give device big ");
}

TEST(RandomProblem, RefusesBadParameters) {
  const std::map<std::string, std::string> words = {
      {"speeds=", "speeds: '' is no number from 0.001 to 1000"},
      {"speeds=1:", "speeds: '' is no number"},
      {"speeds=0", "speeds: '0' is no number"},
      {"speeds=nan:1", "speeds: 'nan' is no number"},
      {"speeds=1x", "speeds: '' is no number from 1 to 65536"},
      {"speeds=1x0", "speeds: '0' is no number from 1 to 65536"},
      {"speeds=1x2x3", "speeds: '2x3' is no number"},
      {"speeds=1x65536:1", "speeds: are of more than 65536 devices"},
      {"speeds=1,speeds=1", "speeds: given twice"},
      {"memory=0.99", "memory: '0.99' is no number from 1 to 100"},
      {"memory=nan", "memory: 'nan' is no number"},
      {"memory=101", "memory: '101' is no number"},
      {"allowed=-0.1", "allowed: '-0.1' is no number from 0 to 1"},
      {"allowed=1.1", "allowed: '1.1' is no number"},
      {"colocate=1e9", "colocate: '1e9' is no number from 0 to 1"},
  };
  for (const auto& [text, part] : words) {
    expect_message(message_of([&, word = text] { parse_random_dag(word); }),
                   "random network, " + part);
  }
  expect_message(message_of([] { problem("speeds=1:2", 3); }),
                 "speeds: 2 are given, and there are 3 devices; give one for each");
  expect_message(
      message_of([] { problem("allowed=0.5", 1); }),
      "allowed: operators cannot be restricted to some of the devices if there is only one");
  expect_message(message_of([] { random_dag(parse_random_dag("memory=2")); }),
                 "random network: this is only the network, without devices");
  RandomDag wrong{.devices = {.speeds = {1, 0}}};
  const Platform two = Platform::homogeneous(2, "gpu", 0, 1);
  expect_message(message_of([&] { random_problem(wrong, two); }), "speeds: is out of its range");
  wrong.devices = {.memory = std::nan("")};
  expect_message(message_of([&] { random_problem(wrong, two); }), "memory: is out of its range");
}

TEST(RandomProblem, SpreadMakesTimesOfEachDeviceWithTheSameMean) {
  RandomDag parameters = parse_random_dag("n=4000,seed=3,family=independent,spread=0.5");
  const Platform platform = Platform::homogeneous(2, "gpu", 0, 1);
  const Graph graph = random_problem(parameters, platform).graph;
  parameters.devices = {};
  const Graph plain = random_dag(parameters);
  double sum = 0, squares = 0, product = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const Operator& op = graph.op(OpId(v));
    EXPECT_FALSE(op.has_time);
    const double time_ms = plain.op(OpId(v)).time_ms;
    const double first = op.time_by_device.at("gpu0") / time_ms;
    const double second = op.time_by_device.at("gpu1") / time_ms;
    sum += first;
    squares += std::log(first) * std::log(first);
    product += (std::log(first) + 0.125) * (std::log(second) + 0.125);
  }
  EXPECT_NEAR(sum / 4000, 1, 0.03);
  EXPECT_NEAR(squares / 4000, 0.25 + 0.125 * 0.125, 0.02);
  EXPECT_NEAR(product / 4000, 0, 0.02) << "devices are independent";
}

}  // namespace
}  // namespace hios
