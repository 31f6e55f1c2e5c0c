// Prints the time and memory of schedulers by the size of the graph: time and peak memory of each
// step on random networks (Kundu and Shu, HIOS, section V-A; edges = 2n), and the exponent
// b of time = a·n^b by least squares over the logarithms. A study: it asserts nothing.
//
// Each number comes from a process of its own, so that its peak memory (VmHWM, graph included) is
// its own and a step that fails or is too large affects no other. A step is repeated for at least a
// fifth of a second; the least time counts. The bounds are a row of their own and not part of the
// others.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "hios/model/networks/networks.h"
#include "hios/platform/platform_json.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/longest_path.h"
#include "scheduler/algorithms/hios/mapping_recording.h"
#include "scheduler/algorithms/list/heft.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/cold/sortinghat/sortinghat.h"
#include "scheduler/pipeline/slicing/slice_graph.h"
#include "scheduler/registry.h"

namespace {

using namespace hios;
using namespace hios::scheduler;

/// A graph to schedule: a random network, or the built-in model of that name.
struct Case {
  std::string name;
  std::string model;  ///< empty: random
  RandomDag random;
};

struct Measured {
  double ms = 0;
  double peak_mib = 0;
};

/// Returns the model's graph with costs that are not measured: 1 ms per 10⁹ operations and 0.01 ms
/// per launch; transfers at 10 GB/s. Only the shape matters here.
Graph model_graph(const std::string& name) {
  const models::Entry* entry = models::find(name);
  if (entry == nullptr) throw InputError("there is no built-in model '" + name + "'");
  const Model model = entry->build(1, entry->default_size, entry->default_size);
  const CoarseGraph coarse = coarsen(model);
  std::vector<Operator> operators(coarse.graph.operators().begin(), coarse.graph.operators().end());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].time_ms = 0.01 + flop(model, coarse.operators[i]) * 1e-9;
    operators[i].has_time = true;
    operators[i].utilization = 0.8;
  }
  std::vector<Edge> edges(coarse.graph.edges().begin(), coarse.graph.edges().end());
  for (Edge& edge : edges) edge.transfer_ms = static_cast<double>(edge.size_bytes) * 1e-7;
  return Graph(name, std::move(operators), std::move(edges), {StageCostRule::Kind::kOverlap, 0.5});
}

Platform read_platform(const std::string& file) {
  const Json json = read_json(file);
  return platform_from_json(JsonView(json, file));
}

/// The input of every step, filled in the measuring process.
struct TimedProblem {
  TimedProblem(const Case& wanted, const Platform& devices)
      : graph(wanted.model.empty() ? random_dag(wanted.random) : model_graph(wanted.model)),
        platform(devices),
        costs(CostModel::from_graph(graph, platform)) {}
  Graph graph;
  Platform platform;
  CostModel costs;
  Schedule schedule;  ///< for simulate and validate
  Context context;    ///< for cold-greedy: the bound, which has a row of its own
};

constexpr std::size_t kWindow = 4;  // w of Alg. 2, the default

Schedule hios_lp(const TimedProblem& p) {
  const TimedSchedule mapped = map_longest_paths(p.graph, p.costs, {});
  return parallelize(p.graph, p.costs, mapped.schedule, kWindow).schedule;
}

Schedule hios_mr(const TimedProblem& p) {
  const TimedSchedule mapped = record_mappings(p.graph, p.costs);
  return parallelize(p.graph, p.costs, mapped.schedule, kWindow).schedule;
}

/// sortinghat's greedy plan, which its programs start from, with all that leads to it.
void plan_cold_start(const TimedProblem& p) {
  const Algorithm& sortinghat = built_in().find("sortinghat");
  greedy_submodels(Problem(p.costs, Objective::kColdStart), Options(sortinghat.options), p.context);
}

struct Step {
  const char* name;
  void (*prepare)(TimedProblem&);  ///< (optional) before the clock starts
  void (*run)(const TimedProblem&);
  bool cold = false;  ///< for platforms with stores alone
};

const Step kSteps[] = {
    {"inter-lp", nullptr, [](const TimedProblem& p) { map_longest_paths(p.graph, p.costs, {}); }},
    {"hios-lp", nullptr, [](const TimedProblem& p) { hios_lp(p); }},
    {"inter-mr", nullptr, [](const TimedProblem& p) { record_mappings(p.graph, p.costs); }},
    {"hios-mr", nullptr, [](const TimedProblem& p) { hios_mr(p); }},
    {"heft", nullptr, [](const TimedProblem& p) { schedule_heft(p.graph, p.costs, {}); }},
    {"slicing", nullptr,
     [](const TimedProblem& p) {
       pipeline::slice_graph(p.graph, p.costs, {.order = pipeline::OrderSearch::kGiven}, 0, {});
     }},
    {"simulate", [](TimedProblem& p) { p.schedule = hios_mr(p); },
     [](const TimedProblem& p) { simulate(p.graph, p.schedule, p.costs); }},
    {"validate", [](TimedProblem& p) { p.schedule = hios_mr(p); },
     [](const TimedProblem& p) { validate(p.graph, p.platform, p.schedule); }},
    {"bounds", nullptr, [](const TimedProblem& p) { lower_bound(p.graph, p.costs); }},
    {"cold-greedy", [](TimedProblem& p) { p.context.bound = lower_bound(p.graph, p.costs); },
     plan_cold_start, true},
};

/// Returns the peak resident memory of this process so far.
double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Measured measure_here(const Step& step, const Case& wanted, const Platform& devices) {
  using Clock = std::chrono::steady_clock;
  constexpr double kEnoughMs = 200;
  constexpr int kMostRepeats = 100;
  TimedProblem problem(wanted, devices);
  if (step.prepare != nullptr) step.prepare(problem);
  Measured measured{std::numeric_limits<double>::infinity(), 0};
  double all_ms = 0;
  for (int i = 0; i < kMostRepeats && all_ms < kEnoughMs; ++i) {
    const auto begin = Clock::now();
    step.run(problem);
    const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
    measured.ms = std::min(measured.ms, time.count());
    all_ms += time.count();
  }
  measured.peak_mib = peak_mib();
  return measured;
}

/// Measures a step in a process of its own; empty if that fails (its error is on stderr).
std::optional<Measured> measure(const Step& step, const Case& wanted, const Platform& devices) {
  int ends[2];
  if (pipe(ends) != 0) throw RunError("cannot make a pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw RunError("cannot start a process");
  if (child == 0) {
    int code = 0;
    try {
      const Measured measured = measure_here(step, wanted, devices);
      const ssize_t written = write(ends[1], &measured, sizeof measured);
      code = written == static_cast<ssize_t>(sizeof measured) ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s, %s: %s\n", wanted.name.c_str(), step.name, error.what());
      code = 1;
    }
    std::_Exit(code);
  }
  close(ends[1]);
  Measured measured;
  const ssize_t got = read(ends[0], &measured, sizeof measured);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (got != static_cast<ssize_t>(sizeof measured) || status != 0) return std::nullopt;
  return measured;
}

struct Point {
  double operators;
  double ms;
};

/// Returns the exponent b of ms = a·operators^b by least squares over the logarithms.
std::optional<double> fitted_exponent(const std::vector<Point>& points) {
  if (points.size() < 2) return std::nullopt;
  const double count = static_cast<double>(points.size());
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
  for (const Point& p : points) {
    x_mean += std::log(p.operators) / count;
    y_mean += std::log(p.ms) / count;
  }
  for (const Point& p : points) {
    xx += (std::log(p.operators) - x_mean) * (std::log(p.operators) - x_mean);
    xy += (std::log(p.operators) - x_mean) * (std::log(p.ms) - y_mean);
  }
  return xx > 0 ? std::optional(xy / xx) : std::nullopt;
}

struct Arguments {
  std::string sizes, steps, layers, platform, json, csv;
  std::size_t devices = 4;
  std::uint64_t seed = 1;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// `layers` 0: as deep as wide. `cold`: its operators have parameters, which any can read in place.
Case random_case(const std::string& size, std::size_t layers, std::uint64_t seed, bool cold) {
  std::string text = "n=" + size;
  const double n = static_cast<double>(parse_random_dag(text).operators);
  if (layers == 0) layers = static_cast<std::size_t>(std::lround(std::sqrt(n)));
  text += ",edges=" + std::to_string(static_cast<std::size_t>(2 * n)) +
          ",layers=" + std::to_string(layers) + ",p=0.8,seed=" + std::to_string(seed);
  if (cold) text += ",parameters=0-4000000,in-place=1";
  return {text, "", parse_random_dag(text)};
}

class Study {
 public:
  explicit Study(const Arguments& arguments)
      : arguments_(arguments),
        steps_(split(arguments.steps)),
        platform_(arguments.platform.empty() ? Platform::homogeneous(arguments.devices, "gpu", 0, 8)
                                             : read_platform(arguments.platform)) {}

  /// Returns false if a step failed.
  bool run() {
    if (!cold()) measure_case({"nasnet_large", "nasnet_large", {}});
    for (const std::string& layers : split(arguments_.layers)) {
      points_.clear();
      const std::size_t count = layers == "sqrt" ? 0 : std::stoul(layers);
      for (const std::string& size : split(arguments_.sizes)) {
        measure_case(random_case(size, count, arguments_.seed, cold()));
      }
      print_exponents(layers + " layers");
    }
    write();
    return complete_;
  }

 private:
  bool cold() const { return platform_.topology() != nullptr; }
  bool wanted(const Step& step) const {
    if (step.cold && !cold()) return false;
    return steps_.empty() || std::find(steps_.begin(), steps_.end(), step.name) != steps_.end();
  }

  void measure_case(const Case& made) {
    std::printf("%s, %zu devices\n", made.name.c_str(), platform_.size());
    for (const Step& step : kSteps) {
      if (!wanted(step)) continue;
      const auto measured = measure(step, made, platform_);
      complete_ = complete_ && measured;
      if (!measured) continue;
      std::printf("  %-9s %12.3f ms %9.1f MiB\n", step.name, measured->ms, measured->peak_mib);
      rows_.push_back({{"graph", made.name},
                       {"step", step.name},
                       {"ms", measured->ms},
                       {"peak_mib", measured->peak_mib}});
      if (!made.model.empty()) continue;
      points_[step.name].push_back({static_cast<double>(made.random.operators), measured->ms});
    }
  }

  void print_exponents(const std::string& shape) {
    std::printf("time ~ n^b, %s:", shape.c_str());
    for (const auto& [step, measured] : points_) {
      const auto exponent = fitted_exponent(measured);
      if (!exponent) continue;
      std::printf("  %s %.2f", step.c_str(), *exponent);
      exponents_.push_back({{"shape", shape}, {"step", step}, {"exponent", *exponent}});
    }
    std::printf("\n");
  }

  void write() const {
    if (!arguments_.csv.empty()) {
      std::string text = "graph,step,ms,peak_mib\n";
      for (const Json& row : rows_) {
        text += row["graph"].dump() + "," + row["step"].get<std::string>() + "," +
                row["ms"].dump() + "," + row["peak_mib"].dump() + "\n";
      }
      write_text(arguments_.csv, text, Existing::kReplace);
    }
    if (arguments_.json.empty()) return;
    write_json(arguments_.json,
               {{"devices", platform_.size()}, {"rows", rows_}, {"exponents", exponents_}},
               Existing::kReplace);
  }

  const Arguments& arguments_;
  std::vector<std::string> steps_;
  Platform platform_;
  std::map<std::string, std::vector<Point>> points_;  // points of one shape, by step
  Json rows_ = Json::array(), exponents_ = Json::array();
  bool complete_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  Arguments arguments;
  po::options_description options("Time and peak memory of the schedulers by the graph's size");
  options.add_options()("help", "this text")(
      "sizes", po::value(&arguments.sizes)->default_value("100,1000,10000,50000"), "operators")(
      "layers", po::value(&arguments.layers)->default_value("14,sqrt"),
      "of the random networks; sqrt: as deep as wide")(
      "steps", po::value(&arguments.steps)->default_value(""),
      "of inter-lp,hios-lp,inter-mr,hios-mr,heft,slicing,simulate,validate,bounds,cold-greedy; "
      "none: all")("devices", po::value(&arguments.devices)->default_value(4), "all alike")(
      "platform", po::value(&arguments.platform),
      "read the devices there; with stores, operators have parameters, and cold-greedy is "
      "measured")("seed", po::value(&arguments.seed)->default_value(1), "of the random networks")(
      "json", po::value(&arguments.json), "write the table and the exponents there")(
      "csv", po::value(&arguments.csv), "write the table there");
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, options), values);
    po::notify(values);
    if (values.count("help") != 0) {
      std::cout << options;
      return 0;
    }
    return Study(arguments).run() ? 0 : static_cast<int>(ExitCode::kRunFailed);
  } catch (const InputError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  } catch (const po::error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  } catch (const std::invalid_argument&) {
    std::fprintf(stderr, "error: --layers takes numbers and sqrt\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(ExitCode::kRunFailed);
  }
  return static_cast<int>(ExitCode::kBadInput);
}
