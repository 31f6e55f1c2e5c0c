#pragma once

#include <cstdint>

#include "hios/base/json/options.h"

namespace hios::scheduler {

/// The options of all algorithms, each described once: the rows of the registry name them.
struct Specs {
  OptionSpec insertion{
      "insertion", false, 0, 0,
      "true: also inserts operators into gaps, and takes the shorter schedule; the "
      "paper appends them to their devices"};
  OptionSpec any_paths{"any_paths", true, 0, 0,
                       "also paths through operators with scheduled neighbours, and the shorter "
                       "schedule; false: the paper's valid paths alone"};
  OptionSpec subsets{"subsets", true, 0, 0,
                     "where devices differ: also on the fastest of them alone, and the shortest "
                     "schedule"};
  OptionSpec least_ranks{"least_ranks", true, 0, 0,
                         "of heft: also ranks by each operator's least time, and the shorter "
                         "schedule; the paper takes the mean of its times alone"};
  OptionSpec window{"window", std::int64_t{4}, 1, 64,
                    "w of Alg. 2: the most operators that one window merges into a stage"};
  OptionSpec max_group{"max_group", std::int64_t{3}, 1, 32, "r: the most operators of a group"};
  OptionSpec max_groups{"max_groups", std::int64_t{8}, 1, 32, "s: the most groups of a stage"};
  OptionSpec max_endings{"max_endings", std::int64_t{5'000'000}, 1, 1e12,
                         "of ios: the most endings tried for a subgraph; then it takes the best "
                         "found"};
  OptionSpec iterations{
      "iterations", std::int64_t{0}, 0, 1e15,
      "moves of each island, for the same schedule on any machine; 0: until the time limit"};
  OptionSpec steps{"iterations", std::int64_t{20'000}, 1, 1e15,
                   "of annealing and ea: the mappings that they try"};
  OptionSpec islands{"islands", std::int64_t{4}, 1, 64,
                     "parallel searches that exchange their best schedules"};
  OptionSpec start_moves{"iterations", std::int64_t{50'000}, 1, 1e12,
                         "moves of each island of the search that it starts from"};
  OptionSpec solver{"solver", std::string("any"), 0, 0,
                    "highs, cbc, or any: the first that this build has"};
  OptionSpec symmetry{"symmetry", std::string("tasks"), 0, 0,
                      "how alike devices are ordered: by most tasks, by most time, or none: not "
                      "at all"};
  OptionSpec nodes{"nodes", std::int64_t{0}, 0, 1e9,
                   "of branch and bound, for the same schedule on any machine; 0: until the time "
                   "limit"};
  OptionSpec channels{"channels", std::int64_t{4}, 1, 1000,
                      "of milp-split: tensors that may cross a cut between modules"};
  OptionSpec order{"order", std::string("brkga"), 0, 0,
                   "of slice-graph, the topological orders that are sliced: given (the graph's), "
                   "random, brkga (a genetic algorithm), mla or mla-weighted (short edges)"};
  OptionSpec population{"population", std::int64_t{100}, 1, 1e6,
                        "of slice-graph: orders of a generation"};
  OptionSpec generations{"generations", std::int64_t{100}, 1, 1e9,
                         "of slice-graph: generations; random takes as many orders as both say"};
  OptionSpec threads{"threads", std::int64_t{0}, 0, 1024,
                     "that islands share; 0: all of the machine's. Changes the speed alone"};
};

}  // namespace hios::scheduler
