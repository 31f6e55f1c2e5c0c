#include "hios/graph/random/families.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hios/base/error.h"

// The table of families, and the families of a few lines: fork-join, trees, chains, stencils,
// independent operators and dense networks. In all of them edges lead to operators with greater
// numbers. Test: tests/hios/graph/random/random_families_test.cpp.

namespace hios::families {
namespace {

constexpr std::size_t kLongestBranch = 3;
constexpr double kMaxPairs = 1e9;  // a dense network draws once for each

void check_nothing(const RandomDag&) {}

std::size_t one_input(const RandomDag& parameters) { return parameters.operators - 1; }

void check_width(const RandomDag& parameters) {
  if (parameters.width >= 1 && parameters.width <= parameters.operators) return;
  throw InputError(key_words("width") + std::to_string(parameters.width) +
                   " cannot be; there are only " + std::to_string(parameters.operators) +
                   " operators");
}

Structure draw_fork_join(const RandomDag& parameters, Random& random) {
  Structure made{.operators = parameters.operators};
  std::size_t fork = 0, next = 1;
  while (next < made.operators) {
    const std::size_t left = made.operators - next;
    if (left == 1) {  // neither branch nor join
      made.edges.emplace_back(fork, next++);
      continue;
    }
    const std::size_t branches = std::min(parameters.width, left - 1);
    std::size_t spare = left - 1 - branches;
    std::vector<std::size_t> ends;
    for (std::size_t branch = 0; branch < branches; ++branch) {
      const std::size_t more = std::min<std::size_t>(spare, random.below(kLongestBranch));
      spare -= more;
      made.edges.emplace_back(fork, next);
      for (std::size_t i = 0; i < more; ++i, ++next) made.edges.emplace_back(next, next + 1);
      ends.push_back(next++);
    }
    for (const std::size_t end : ends) made.edges.emplace_back(end, next);
    fork = next++;
  }
  return made;
}

Structure draw_tree(const RandomDag& parameters, Random& random) {
  Structure made{.operators = parameters.operators};
  const std::size_t last = parameters.operators - 1;
  for (std::size_t child = 1; child <= last; ++child) {
    const std::size_t parent = random.below(child);
    if (parameters.direction == RandomDag::Direction::kOut) {
      made.edges.emplace_back(parent, child);
    } else {
      made.edges.emplace_back(last - child, last - parent);
    }
  }
  return made;
}

Structure draw_chains(const RandomDag& parameters, Random& random) {
  Structure made{.operators = parameters.operators};
  std::vector<std::size_t> ends;
  for (std::size_t v = 0; v < made.operators; ++v) {
    if (ends.size() < parameters.width) {
      ends.push_back(v);
      continue;
    }
    std::size_t& end = ends[random.below(ends.size())];
    made.edges.emplace_back(end, v);
    end = v;
  }
  return made;
}

Structure draw_stencil(const RandomDag& parameters, Random&) {
  Structure made{.operators = parameters.operators};
  const std::size_t width = parameters.width;
  for (std::size_t v = width; v < made.operators; ++v) {
    const std::size_t above = v - width, column = v % width;
    if (column > 0) made.edges.emplace_back(above - 1, v);
    made.edges.emplace_back(above, v);
    if (column + 1 < width) made.edges.emplace_back(above + 1, v);
  }
  return made;
}

Structure draw_independent(const RandomDag& parameters, Random&) {
  return {.operators = parameters.operators};
}

double pairs(const RandomDag& parameters) {
  const auto n = static_cast<double>(parameters.operators);
  return n * (n - 1) / 2;
}

std::size_t dense_edges_at_most(const RandomDag& parameters) {
  const double mean = pairs(parameters) * parameters.density;
  return static_cast<std::size_t>(
      std::min(pairs(parameters), std::ceil(mean + 10 * std::sqrt(mean) + 10)));
}

void check_dense(const RandomDag& parameters) {
  if (!(parameters.density >= 0 && parameters.density <= 1)) {
    throw InputError(key_words("density") + "must be 0 to 1");
  }
  if (pairs(parameters) > kMaxPairs) {
    throw InputError(key_words("n") + std::to_string(parameters.operators) +
                     " is too much for family dense; it takes up to 44721");
  }
  if (dense_edges_at_most(parameters) > kMaxEdges) {
    throw InputError(key_words("density") + "leads to more than " + std::to_string(kMaxEdges) +
                     " edges between " + std::to_string(parameters.operators) +
                     " operators; lower one of the two");
  }
}

Structure draw_dense(const RandomDag& parameters, Random& random) {
  Structure made{.operators = parameters.operators};
  for (std::size_t v = 1; v < made.operators; ++v) {
    for (std::size_t u = 0; u < v; ++u) {
      if (random.uniform() < parameters.density) made.edges.emplace_back(u, v);
    }
  }
  return made;
}

const Row kTable[] = {
    {RandomDag::Family::kLayered,
     "layered",
     {"edges", "layers", "p", "transfer"},
     check_layered,
     layered_edges_at_most,
     draw_layered},
    {RandomDag::Family::kTwoTerminal,
     "two-terminal",
     {"edges", "layers", "p", "transfer"},
     check_two_terminal,
     layered_edges_at_most,
     draw_two_terminal},
    {RandomDag::Family::kForkJoin,
     "forkjoin",
     {"width", "p", "transfer"},
     check_width,
     [](const RandomDag& parameters) { return 2 * parameters.operators; },
     draw_fork_join},
    {RandomDag::Family::kTree,
     "tree",
     {"direction", "p", "transfer"},
     check_nothing,
     one_input,
     draw_tree},
    {RandomDag::Family::kChain,
     "chain",
     {"width", "p", "transfer"},
     check_width,
     one_input,
     draw_chains},
    {RandomDag::Family::kStencil,
     "stencil",
     {"width", "p", "transfer"},
     check_width,
     [](const RandomDag& parameters) { return 3 * parameters.operators; },
     draw_stencil},
    {RandomDag::Family::kCholesky,
     "cholesky",
     {"p", "transfer"},
     check_nothing,
     cholesky_edges_at_most,
     draw_cholesky},
    {RandomDag::Family::kIndependent,
     "independent",
     {},
     check_nothing,
     [](const RandomDag&) { return std::size_t{0}; },
     draw_independent},
    {RandomDag::Family::kDense,
     "dense",
     {"density", "p", "transfer"},
     check_dense,
     dense_edges_at_most,
     draw_dense},
    {RandomDag::Family::kModules,
     "modules",
     {"modules", "nodes", "wiring", "channels", "ends"},
     check_modules,
     modules_edges_at_most,
     draw_modules,
     set_modules_costs,
     [](const RandomDag& parameters) {
       return parameters.modules.count * parameters.modules.nodes;
     },
     "modules x nodes"},
    {RandomDag::Family::kRegal,
     "regal",
     {"base"},
     check_regal,
     regal_edges_at_most,
     draw_regal,
     set_regal_costs},
    {RandomDag::Family::kBert,
     "bert",
     {"layers", "heads", "hidden", "length"},
     check_bert,
     formula_edges_at_most,
     draw_bert,
     set_bert_costs,
     bert_operators,
     "layers x (3 heads + 10) + 2"},
    {RandomDag::Family::kLstm,
     "lstm",
     {"layers", "hidden", "length"},
     check_lstm,
     formula_edges_at_most,
     draw_lstm,
     set_lstm_costs,
     lstm_operators,
     "5 x layers x length"},
};

}  // namespace

std::span<const Row> table() { return kTable; }

const Row& row_of(RandomDag::Family family) {
  return *std::find_if(std::begin(kTable), std::end(kTable),
                       [&](const Row& row) { return row.family == family; });
}

double normal(Random& random, double mean, double deviation) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return mean + deviation * (radius * std::cos(2 * std::numbers::pi * random.uniform()));
}

double lognormal(Random& random, double mean, double deviation) {
  return mean * std::exp(deviation * normal(random, 0, 1) - deviation * deviation / 2);
}

std::string key_words(std::string_view key) { return "random network, " + std::string(key) + ": "; }

}  // namespace hios::families
