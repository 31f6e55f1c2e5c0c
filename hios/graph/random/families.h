#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/graph/random/random_dag.h"

/// The implementation of hios/graph/random/random_dag.h: the structure of each family, its costs,
/// and the devices. Families of a few lines are in families.cpp, the others in layered.cpp,
/// cholesky.cpp, modules.cpp, regal.cpp and formulas.cpp (bert and lstm).
namespace hios::families {

constexpr std::size_t kMaxOperators = 1'000'000;
constexpr std::size_t kMaxEdges = 10'000'000;
constexpr std::size_t kMaxDevices = 65536;
constexpr double kMaxRatio = 1e6;
constexpr double kMinSpeed = 1e-3, kMaxSpeed = 1e3;
constexpr double kMaxSpread = 3;
constexpr double kMinMemory = 1, kMaxMemory = 100;
constexpr Bytes kMaxParameterBytes = Bytes{1} << 40;

/// The structure of a network.
struct Structure {
  std::size_t operators = 0;
  std::vector<std::pair<std::size_t, std::size_t>> edges =
      {};                               ///< producer, consumer; in any order
  std::vector<std::string> names = {};  ///< empty: v0, v1, …
};

/// A Graph with costs, before it is made.
struct GraphDraft {
  std::string name;
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  StageCostRule stage_cost = {StageCostRule::Kind::kOverlap, 0.5};
};

/// A row of the table of families.
struct Row {
  RandomDag::Family family;
  std::string_view name;
  /// Keys that not every family has. A key that no row names belongs to all families.
  std::vector<std::string_view> keys;
  /// Throws InputError where there is no such network for any seed.
  void (*check)(const RandomDag&);
  std::size_t (*edges_at_most)(const RandomDag&);
  /// Draws a structure whose edges lead to operators with greater numbers. Throws InputError where
  /// there is none for this seed. REQUIRES: check().
  Structure (*draw)(const RandomDag&, Random&);
  /// (optional) Replaces the costs that are common to all families.
  void (*set_costs)(const RandomDag&, GraphDraft&) = nullptr;
  /// (optional) Returns the number of operators, where other keys decide it.
  std::size_t (*count)(const RandomDag&) = nullptr;
  std::string_view counted = {};  ///< the same for messages
};

std::span<const Row> table();
const Row& row_of(RandomDag::Family family);

// The families with sources of their own.
void check_layered(const RandomDag& parameters);
std::size_t layered_edges_at_most(const RandomDag& parameters);
Structure draw_layered(const RandomDag& parameters, Random& random);
void check_two_terminal(const RandomDag& parameters);
Structure draw_two_terminal(const RandomDag& parameters, Random& random);
std::size_t cholesky_edges_at_most(const RandomDag& parameters);
Structure draw_cholesky(const RandomDag& parameters, Random& random);
void check_modules(const RandomDag& parameters);
std::size_t modules_edges_at_most(const RandomDag& parameters);
Structure draw_modules(const RandomDag& parameters, Random& random);
void set_modules_costs(const RandomDag& parameters, GraphDraft& draft);
void check_regal(const RandomDag& parameters);
std::size_t regal_edges_at_most(const RandomDag& parameters);
Structure draw_regal(const RandomDag& parameters, Random& random);
void set_regal_costs(const RandomDag& parameters, GraphDraft& draft);
void check_bert(const RandomDag& parameters);
std::size_t bert_operators(const RandomDag& parameters);
Structure draw_bert(const RandomDag& parameters, Random& random);
void set_bert_costs(const RandomDag& parameters, GraphDraft& draft);
void check_lstm(const RandomDag& parameters);
std::size_t lstm_operators(const RandomDag& parameters);
Structure draw_lstm(const RandomDag& parameters, Random& random);
void set_lstm_costs(const RandomDag& parameters, GraphDraft& draft);
std::size_t formula_edges_at_most(const RandomDag& parameters);  ///< for bert and lstm
/// The number of devices that have times in kModules.
inline constexpr std::size_t kModuleDevices = 3;

/// Undirected edges, the smaller operator first.
using Pairs = std::set<std::pair<std::size_t, std::size_t>>;
/// Draws the edges of one module. REQUIRES: as many nodes as its wiring needs.
Pairs wired(const RandomModules& modules, Random& random);

/// Throws InputError where the parameters are out of range or the family's check() does.
void check(const RandomDag& parameters);

GraphDraft draw_graph(const RandomDag& parameters);
Graph assembled(GraphDraft draft);

/// Draws the bytes of operators' parameters, where RandomParameters has limits for them.
void draw_parameters(GraphDraft& draft, const RandomDag& parameters);
/// Draws the operators that can be read in place, and their times there. REQUIRES: all times and
/// parameter_bytes are final. Throws InputError where no operator has parameters.
void draw_in_place(GraphDraft& draft, const RandomDag& parameters);

/// Returns the number of operators in a share.
std::size_t share_of(std::size_t operators, double share);

/// Returns the beginning of a message: "random network, layers: ".
std::string key_words(std::string_view key);

/// Draws a normally distributed number, by the C library's log and cos.
double normal(Random& random, double mean, double deviation);
/// Draws a lognormal number of that mean whose logarithm has that standard deviation, by the C
/// library's exp, log and cos.
double lognormal(Random& random, double mean, double deviation);

template <class Value>
void shuffle(std::vector<Value>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i)]);
  }
}

}  // namespace hios::families
