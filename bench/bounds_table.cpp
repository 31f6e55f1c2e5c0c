#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/registry.h"

// Prints every lower bound, the largest one and the time to compute them, as means over random
// networks, on unlike devices where their keys say so, or for a graph from a file, together with
// the best latency of some schedulers. A study: it asserts nothing.

namespace hios {
namespace {

namespace po = boost::program_options;

struct Row {
  double sum_ms = 0;
  int largest = 0;
};

class BoundsTable {
 public:
  BoundsTable(std::size_t devices, int streams, std::vector<std::string> algorithms)
      : devices_(devices), streams_(streams), algorithms_(std::move(algorithms)) {}

  void add(const RandomDag& parameters) {
    const std::size_t unlike = parameters.devices.speeds.size();
    const RandomProblem made = random_problem(parameters, platform(unlike > 0 ? unlike : devices_));
    add(made.graph, made.platform);
  }

  void add(const Graph& graph) { add(graph, platform(devices_)); }

  void print(const std::string& title) const {
    std::printf("%s: %zu devices of %d streams, %.0f graphs\n", title.c_str(), last_devices_,
                streams_, graphs_);
    for (const std::string& name : order_) {
      const Row& row = rows_.at(name);
      std::printf("  %-14s %10.3f ms  largest in %d\n", name.c_str(), row.sum_ms / graphs_,
                  row.largest);
    }
    std::printf("  %-14s %10.3f ms  in %.4f s; schedules %.3f ms, gap %.1f %%\n", "best bound",
                best_ms_ / graphs_, seconds_ / graphs_, latency_ms_ / graphs_,
                100 * (latency_ms_ / best_ms_ - 1));
  }

 private:
  Platform platform(std::size_t devices) const {
    return Platform::homogeneous(devices, "gpu", 0, streams_);
  }

  void add(const Graph& graph, const Platform& platform) {
    last_devices_ = platform.size();
    const CostModel costs = CostModel::from_graph(graph, platform);
    const auto begin = std::chrono::steady_clock::now();
    const auto bounds = scheduler::all_bounds(graph, costs);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const scheduler::LowerBound best = scheduler::lower_bound(graph, costs);
    if (order_.empty()) {
      for (const auto& bound : bounds) order_.push_back(bound.name);
    }
    for (const auto& bound : bounds) rows_[bound.name].sum_ms += bound.ms;
    ++rows_[best.name].largest;
    best_ms_ += best.ms;
    latency_ms_ += scheduled_ms(graph, costs);
    ++graphs_;
  }

  double scheduled_ms(const Graph& graph, const CostModel& costs) const {
    if (graph.size() > 1000) return std::numeric_limits<double>::quiet_NaN();  // takes too long
    double best = std::numeric_limits<double>::infinity();
    for (const std::string& name : algorithms_) {
      const scheduler::Algorithm& algorithm = scheduler::built_in().find(name);
      const auto result = algorithm.run(scheduler::Problem(costs), Options(algorithm.options), {});
      best = std::min(best, result.latency_ms);
    }
    return best;
  }

  std::size_t devices_, last_devices_ = 0;
  int streams_;
  std::vector<std::string> algorithms_;
  std::vector<std::string> order_;
  std::map<std::string, Row> rows_;
  double best_ms_ = 0, latency_ms_ = 0, seconds_ = 0, graphs_ = 0;
};

int run(int argc, char** argv) {
  po::options_description options("bounds_table");
  options.add_options()("help", "this text");
  options.add_options()("random", po::value<std::string>()->default_value(""),
                        "networks as hios-schedule --random, without seed");
  options.add_options()("seeds", po::value<int>()->default_value(30), "seeds 0, 1, …");
  options.add_options()("graph", po::value<std::string>(), "a hios-graph instead");
  options.add_options()("devices", po::value<std::size_t>()->default_value(4));
  options.add_options()("streams", po::value<int>()->default_value(8));
  options.add_options()(
      "algorithm", po::value<std::vector<std::string>>()->multitoken()->default_value(
                       {"inter-lp", "hios-lp", "inter-mr", "hios-mr"}, "those of the HIOS paper"));
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  if (given.count("help")) {
    std::cout << options;
    return 0;
  }
  BoundsTable table(given["devices"].as<std::size_t>(), given["streams"].as<int>(),
                    given["algorithm"].as<std::vector<std::string>>());
  std::string title = given["random"].as<std::string>();
  if (given.count("graph")) {
    title = given["graph"].as<std::string>();
    const Json json = read_json(title);
    table.add(graph_from_json(JsonView(json, title)));
  } else {
    RandomDag parameters = parse_random_dag(title);
    for (int seed = 0; seed < given["seeds"].as<int>(); ++seed) {
      parameters.seed = static_cast<std::uint64_t>(seed);
      table.add(parameters);
    }
  }
  table.print(title.empty() ? "the default network" : title);
  return 0;
}

}  // namespace
}  // namespace hios

int main(int argc, char** argv) {
  try {
    return hios::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bounds_table: %s\n", error.what());
    return 2;
  }
}
