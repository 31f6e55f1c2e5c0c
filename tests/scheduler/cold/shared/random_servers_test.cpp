// Whole plans of random servers with equal labels and tight memory, counted again from their
// schedules alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/shared/plan_server.h"
#include "scheduler/registry.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/served_models.h"
#include "support/oracles/cold/keeping_brute_force.h"
#include "support/oracles/cold/slow_cold_simulator.h"

namespace hios::scheduler::cold {
namespace {

using test::ServedModels;

constexpr double kRoundingOfRecount = 1e-6;

/// Returns the graph under another name, some of whose operators have labels of all models.
Graph of_family(const Graph& graph, const std::string& name, std::size_t devices, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.parameters.clear();
    op.memory_bytes /= 10;
    op.in_place_by_device.clear();
    if (op.in_place_ms) op.in_place_ms = *op.in_place_ms + op.time_ms;
    if (random.below(3) > 0) op.in_place_ms.reset();
    if (devices > 1 && random.below(6) == 0) op.allowed = {"gpu1"};
    if (op.parameter_bytes == 0 || random.below(2) == 0) continue;
    const auto label = random.below(4);
    op.parameters = "family " + std::to_string(label);
    op.parameter_bytes = 1'000'000 * (1 + label);
  }
  return Graph(name, std::move(operators), {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

std::vector<Graph> family(std::size_t models, std::size_t most_operators, std::size_t devices,
                          Random& random) {
  std::vector<Graph> graphs;
  const bool whole = random.below(2) == 0;
  const test::CostStyle style{.overlap = false, .small_integers = whole};
  for (std::size_t m = 0; m < models; ++m) {
    const Graph graph = test::with_parameters(
        test::random_graph(1 + random.below(most_operators), random.uniform(0, 0.5), style, random),
        whole, random);
    graphs.push_back(of_family(graph, "m" + std::to_string(m), devices, random));
  }
  return graphs;
}

/// Returns a name that equal parameters of all models have in common, and no others.
std::string name_of_set(const Graph& graph, OpId op) {
  const Operator& each = graph.op(op);
  return each.parameters.empty() ? graph.name() + "/" + each.name : each.parameters;
}

/// Returns the platform whose devices have 40 to 130 % of what the largest model needs.
Platform tight(const Platform& platform, const std::vector<Graph>& graphs, Random& random) {
  Bytes largest = 1;
  for (const Graph& graph : graphs) {
    std::map<std::string, Bytes> sizes;
    Bytes all = 0;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      all += graph.op(OpId(v)).memory_bytes;
      sizes[name_of_set(graph, OpId(v))] = graph.op(OpId(v)).parameter_bytes;
    }
    for (const auto& [name, bytes] : sizes) all += bytes;
    largest = std::max(largest, all);
  }
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (Device& device : devices) device.memory_bytes = largest * (4 + random.below(10)) / 10;
  return platform.with_devices(std::move(devices));
}

/// Returns the plans; nothing where a model has no room.
std::optional<ServerResult> planned(const Server& server, std::uint64_t seed) {
  ServerOptions options;
  options.exchanges = 20;
  options.search.iterations = 20;
  options.search.islands = 1;
  options.search.threads = 1;
  Context context;
  context.seed = seed;
  try {
    return plan_server(server, options, context, built_in().all());
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("model 'm")) << error.what();
    return std::nullopt;
  }
}

/// Counts a plan again: the bytes that each device keeps, its memory during each cold start, and
/// the expected latency by the slow simulator.
class Recount {
 public:
  Recount(const ServedModels& served, const ServerPlan& plan, const std::vector<double>& shares)
      : served_(served), plan_(plan), shares_(shares), kept_(served.platform().size()) {
    for (std::size_t m = 0; m < plan.models.size(); ++m) {
      for (const Resident& each : plan.models[m].schedule.weights->resident) {
        kept_[each.on.index()][name_of_set(served.graph(m), each.of)] =
            served.graph(m).op(each.of).parameter_bytes;
      }
    }
  }

  void expect_kept_by_all() const {
    for (std::size_t m = 0; m < plan_.models.size(); ++m) {
      std::set<std::pair<std::size_t, std::string>> resident;
      for (const Resident& each : plan_.models[m].schedule.weights->resident) {
        resident.insert({each.on.index(), name_of_set(served_.graph(m), each.of)});
      }
      for (std::size_t v = 0; v < served_.graph(m).size(); ++v) {
        const std::string name = name_of_set(served_.graph(m), OpId(v));
        for (std::size_t d = 0; d < kept_.size(); ++d) {
          EXPECT_EQ(resident.contains({d, name}), kept_[d].contains(name)) << name;
        }
      }
    }
  }

  void expect_room(Bytes keep_bytes) const {
    for (std::size_t d = 0; d < kept_.size(); ++d) {
      EXPECT_LE(sum(kept_[d]), keep_bytes);
      for (std::size_t m = 0; m < plan_.models.size(); ++m) {
        EXPECT_LE(needed(m, DeviceId(d)), served_.platform().device(DeviceId(d)).memory_bytes);
      }
    }
  }

  double expected_ms() const {
    double sum_ms = 0, requests = 0;
    for (std::size_t m = 0; m < plan_.models.size(); ++m) {
      const auto slow =
          test::slow_cold_timeline(served_.graph(m), plan_.models[m].schedule, served_.costs(m));
      if (!slow) ADD_FAILURE() << "model " << m << " never ends";
      sum_ms += shares_[m] * (slow ? slow->latency_ms : 0);
      requests += shares_[m];
    }
    return sum_ms / requests;
  }

 private:
  static Bytes sum(const std::map<std::string, Bytes>& sets) {
    Bytes all = 0;
    for (const auto& [name, bytes] : sets) all += bytes;
    return all;
  }

  /// Returns the bytes of all that a cold start has on the device, which frees nothing.
  Bytes needed(std::size_t m, DeviceId device) const {
    const Graph& graph = served_.graph(m);
    const Schedule& schedule = plan_.models[m].schedule;
    std::map<std::string, Bytes> there = kept_[device.index()];
    for (const Lane& lane : schedule.weights->lanes) {
      for (const Load& load : lane) {
        if (load.to == device)
          there[name_of_set(graph, load.of)] = graph.op(load.of).parameter_bytes;
      }
    }
    Bytes all = sum(there);
    for (const Stage& stage : schedule.stages(device)) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) all += graph.op(op).memory_bytes;
      }
    }
    return all;
  }

  const ServedModels& served_;
  const ServerPlan& plan_;
  const std::vector<double>& shares_;
  std::vector<std::map<std::string, Bytes>> kept_;  // by device
};

void expect_as_recounted(const ServedModels& served, const std::vector<double>& shares,
                         Bytes keep_bytes, const ServerResult& result) {
  ASSERT_FALSE(result.plans.empty());
  for (const ServerPlan& plan : result.plans) {
    SCOPED_TRACE(plan.name);
    ASSERT_EQ(plan.models.size(), shares.size());
    for (std::size_t m = 0; m < plan.models.size(); ++m) {
      const auto findings = validate(served.graph(m), served.platform(), plan.models[m].schedule,
                                     Objective::kColdStart);
      ASSERT_TRUE(findings.empty()) << findings.front().text;
    }
    const Recount recount(served, plan, shares);
    recount.expect_kept_by_all();
    recount.expect_room(keep_bytes);
    EXPECT_NEAR(plan.expected_ms, recount.expected_ms(), kRoundingOfRecount);
    EXPECT_LE(result.bound_ms, recount.expected_ms() + kRoundingOfRecount);
    EXPECT_LE(result.plans.front().expected_ms, plan.expected_ms);
  }
}

TEST(RandomServers, PlansAreThoseOfARecount) {
  std::size_t plans = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "tight servers");
    const std::size_t devices = 1 + random.below(3);
    std::vector<Graph> graphs = family(2 + random.below(2), 7, devices, random);
    std::vector<double> shares;
    for (std::size_t m = 0; m < graphs.size(); ++m) shares.push_back(random.uniform(0.1, 3));
    const Platform platform =
        tight(test::random_topology(devices, 1, false, random), graphs, random);
    const Bytes keep_bytes = platform.device(DeviceId(0)).memory_bytes / 5 * random.below(6);
    const ServedModels served(std::move(graphs), platform, shares);
    const Server server = served.server(keep_bytes);
    const auto result = planned(server, seed);
    (result ? plans : refused) += 1;
    if (result) expect_as_recounted(served, shares, keep_bytes, *result);
  }
  EXPECT_GT(plans, 20u);
  EXPECT_GT(refused, 0u) << "memory is tight";
}

// Brute force knows no limit of a cold start's memory, so that it may be shorter.
TEST(RandomServers, NoPlanOfATinyServerIsShorterThanBruteForce) {
  std::size_t plans = 0, equal = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "tiny servers");
    const std::size_t devices = 1 + random.below(2);
    std::vector<Graph> graphs = family(2, devices == 1 ? 3 : 2, devices, random);
    const std::vector<double> shares = {1, random.uniform(0.2, 2)};
    const Platform ample = test::served_platform(std::vector<Bytes>(devices, 0));
    const Platform platform = tight(ample, graphs, random);
    const Bytes keep_bytes = platform.device(DeviceId(0)).memory_bytes / 4 * random.below(5);
    std::vector<CostModel> costs;
    std::vector<const CostModel*> unlimited;
    for (const Graph& graph : graphs) costs.push_back(CostModel::from_graph(graph, ample));
    for (const CostModel& each : costs) unlimited.push_back(&each);
    const ServedModels served(graphs, platform, shares);
    const Server server = served.server(keep_bytes);
    const auto result = planned(server, seed);
    if (!result) continue;
    expect_as_recounted(served, shares, keep_bytes, *result);
    const double least_ms = test::KeepingBruteForce(server, unlimited).least_ms();
    EXPECT_GE(result->plans.front().expected_ms, least_ms - kRoundingOfRecount);
    EXPECT_LE(result->bound_ms, least_ms + kRoundingOfRecount);
    ++plans;
    equal += result->plans.front().expected_ms <= least_ms + kRoundingOfRecount;
  }
  EXPECT_GT(plans, 15u);
  EXPECT_GT(equal, plans / 3);
}

}  // namespace
}  // namespace hios::scheduler::cold
