// Part of tests/fuzz/checks.h: values of flags. The first byte selects the flag.

#include <nlohmann/json.hpp>

#include "fuzz/reading.h"
#include "hios/base/numbers/precision.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/registry.h"
#include "support/corpus.h"

namespace hios::test {
namespace {

void check_random_network(std::string_view words) {
  const RandomDag parameters = parse_random_dag(words);
  const std::size_t speeds = parameters.devices.speeds.size();
  if (parameters.operators > 200 || parameters.edges_at_most() > 2000 || speeds > 20) return;
  const Platform devices = Platform::homogeneous(speeds == 0 ? 3 : speeds, "cpu", 1, 8);
  const Graph graph = random_problem(parameters, devices).graph;
  const bool exact = parameters.family != RandomDag::Family::kCholesky;
  promise(exact ? graph.size() == parameters.operators : graph.size() <= parameters.operators,
          "another number of operators");
  promise(graph.edge_count() <= parameters.edges_at_most(), "more edges than edges_at_most() says");
  const auto back = parse_json(to_text(to_json(graph)), "written.json");
  promise(graph_from_json(JsonView(back, "written.json")).digest() == graph.digest(),
          "reading the written graph gives another one");
}

void check_option(const scheduler::Algorithm& algorithm, std::string_view word) {
  Options options(algorithm.options);
  options.set(word);
  promise(options.has(word.substr(0, word.find('='))), "an option that does not exist was set");
  // The options that a schedule file records set the same options when they are read.
  Options reread(algorithm.options);
  const Json recorded = options.non_defaults();
  for (const auto& [key, value] : recorded.items()) {
    reread.set(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  promise(reread.non_defaults() == recorded, "reading the recorded options gives others");
}

/// Returns the first byte that selects an algorithm's options.
std::string letter_of(std::size_t algorithm) {
  return std::string(1, static_cast<char>(algorithm));
}

}  // namespace

std::vector<std::string> word_seeds() {
  std::vector<std::string> seeds = {"rn=20",
                                    "rn=50,edges=100,layers=5,p=0.5,seed=7,transfer=consumer",
                                    "rn=30,family=chain,width=3,speeds=1x2:0.25,memory=1.02",
                                    "rfamily=tree,direction=in,allowed=0.5,colocate=0.3,n=20",
                                    "rfamily=forkjoin,n=40",
                                    "rfamily=cholesky,n=40",
                                    "rfamily=stencil,width=5,n=40",
                                    "rfamily=independent,n=9",
                                    "rfamily=dense,n=20,density=0.1",
                                    "rn=20,parameters=0-4000000,in-place=0.5",
                                    "n1,2.5,-3e2,1e-9",
                                    "pfp32",
                                    "pfp16"};
  const auto algorithms = scheduler::built_in().all();
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    for (const OptionSpec& option : algorithms[i].options)
      seeds.push_back(letter_of(i) + option.name + "=1");
  }
  const Json rows = read_json(corpus() / "flags.json")["command_lines"];
  for (const Json& row : rows) {
    const std::vector<std::string> flags = row["flags"];
    for (std::size_t i = 0; i + 1 < flags.size(); ++i) {
      if (flags[i] == "--random") seeds.push_back("r" + flags[i + 1]);
      if (flags[i] == "--math") seeds.push_back("p" + flags[i + 1]);
      if (flags[i] == "--option") seeds.push_back(letter_of(3) + flags[i + 1]);
    }
  }
  return seeds;
}

int check_words(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const std::string_view words = bytes.substr(1);
  try {
    switch (const auto kind = static_cast<unsigned char>(bytes.front()); kind) {
      case 'r':
        check_random_network(words);
        break;
      case 'p':
        parse_precision(words);
        break;
      default: {
        const auto algorithms = scheduler::built_in().all();
        check_option(algorithms[kind % algorithms.size()], words);
      }
    }
  } catch (const InputError& error) {
    // The programs print it as one line, however long the value was: print_error, log::error.
    promise(!std::string(error.what()).empty(), "an empty error message");
  }
  return 0;
}

}  // namespace hios::test
