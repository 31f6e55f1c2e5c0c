#pragma once

#include <cstdint>
#include <string>

#include "hios/base/json/options.h"

namespace hios::scheduler {

/// The options of all algorithms, each described once; the registry's rows refer to them.
struct Specs {
  OptionSpec insertion{"insertion", false, 0, 0,
                       "true: also with operators in gaps of their devices' lists, and the shorter "
                       "schedule; the paper appends them"};
  OptionSpec any_paths{"any_paths", true, 0, 0,
                       "also paths through operators with scheduled neighbours, and the shorter "
                       "schedule; false: the paper's valid paths alone"};
  OptionSpec subsets{"subsets", true, 0, 0,
                     "where devices differ: also on the fastest of them alone, and the shortest "
                     "schedule"};
  OptionSpec least_ranks{"least_ranks", true, 0, 0,
                         "heft: also ranks by each operator's least time, and the shorter "
                         "schedule; the paper takes the mean of its times alone"};
  OptionSpec least_latency{"least_latency", true, 0, 0,
                           "Alg. 3, line 22: the mapping of least latency; false: the paper's, in "
                           "which the last operator ends first"};
  OptionSpec window{
      "window", std::int64_t{4}, 1, 64,
      "w of Alg. 2: the most operators that one window merges into a stage; the paper gives no "
      "value"};
  OptionSpec rounds{"rounds", std::int64_t{2}, 0, 1e6,
                    "hios: rounds of passes and pairs; 0: the shorter of hios-lp and heft"};
  OptionSpec max_group{"max_group", std::int64_t{3}, 1, 32, "r: the most operators of a group"};
  OptionSpec max_groups{"max_groups", std::int64_t{8}, 1, 32, "s: the most groups of a stage"};
  OptionSpec max_endings{"max_endings", std::int64_t{5'000'000}, 1, 1e12,
                         "ios: the most endings tried for a block of the graph, then the best "
                         "schedule found"};
  OptionSpec iterations{
      "iterations", std::int64_t{0}, 0, 1e15,
      "moves of each island, for the same schedule on any machine; 0: until the time limit"};
  OptionSpec steps{"iterations", std::int64_t{20'000}, 1, 1e15,
                   "annealing and ea: the number of mappings tried"};
  OptionSpec islands{"islands", std::int64_t{4}, 1, 64,
                     "parallel searches that exchange their best schedules"};
  OptionSpec islands_of_best{
      "islands", std::int64_t{0}, 0, 64,
      "parallel searches that exchange their best schedules; 0: four, or, if only the time limit "
      "ends the search, as many as threads, two to four"};
  OptionSpec start_moves{
      "iterations", std::int64_t{50'000}, 1, 1e12,
      "milp, milp-split: moves of each island of the search that they start from"};
  OptionSpec solver{"solver", std::string("any"), 0, 0,
                    "highs, cbc, or any: the first that this build has"};
  OptionSpec symmetry{"symmetry", std::string("tasks"), 0, 0,
                      "how equal devices are ordered: tasks (most first), time (most first), or "
                      "none"};
  OptionSpec nodes{
      "nodes", std::int64_t{0}, 0, 1e9,
      "nodes of branch and bound, for the same schedule on any machine; 0: until the time "
      "limit"};
  OptionSpec channels{"channels", std::int64_t{4}, 1, 1000,
                      "milp-split: the most tensors that cross a cut between modules"};
  OptionSpec modules{"modules", std::string("windows"), 0, 0,
                     "milp-split, where more than one operator connects modules: windows of a "
                     "schedule, improved with the rest fixed, or components (k-edge-connected), "
                     "each solved by itself as DiviML prints it"};
  OptionSpec order{"order", std::string("brkga"), 0, 0,
                   "slice-graph: the topological orders that are sliced: given (the graph's), "
                   "random, brkga (a genetic algorithm), mla or mla-weighted (short edges)"};
  OptionSpec population{"population", std::int64_t{100}, 1, 1e6,
                        "slice-graph: orders of a generation"};
  OptionSpec generations{
      "generations", std::int64_t{100}, 1, 1e9,
      "slice-graph: generations; random takes population times generations orders, brkga and mla "
      "fewer, since elites are not judged again"};
  OptionSpec submodel_seconds{
      "submodel_seconds", std::int64_t{30}, 1, 1e6,
      "sortinghat, efficient-mip: seconds for the program of a submodel, of the time limit"};
  OptionSpec subgraphs{"q", std::int64_t{6}, 2, 32,
                       "sortinghat, efficient-mip: subgraphs of a device in a submodel; even"};
  OptionSpec ndom{"ndom", std::int64_t{1}, 1, 1e6,
                  "sortinghat, efficient-mip: dominators of a submodel"};
  OptionSpec most_operators{"most_operators", std::int64_t{32}, 1, 1000,
                            "sortinghat, efficient-mip: submodels of more operators are cut"};
  OptionSpec lanes{
      "lanes", std::string("shorter"), 0, 0,
      "sortinghat: the order of loads: round-robin (the paper's), use, or the shorter"};
  OptionSpec own_bus{"own_bus", false, 0, 0,
                     "sortinghat: plans as if each device loaded over a bus of its own (Fig. 13)"};
  OptionSpec mean_speeds{"mean_speeds", false, 0, 0,
                         "sortinghat: plans as if all devices and routes were equal (Fig. 13)"};
  OptionSpec contention{"contention", std::string("none"), 0, 0,
                        "sortinghat: none, or paper: the factors of its section 3.4 on reads in "
                        "place and copies"};
  OptionSpec threads{
      "threads", std::int64_t{0}, 0, 1024,
      "threads that islands share; 0: all of the machine's. With iterations it changes "
      "only the speed"};
};

}  // namespace hios::scheduler
