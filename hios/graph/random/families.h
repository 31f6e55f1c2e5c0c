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

/// Inside hios/graph/random/random_dag.h: who reads whom in each family, what it costs, and the
/// devices.
namespace hios::families {

constexpr std::size_t kMaxOperators = 1'000'000;
constexpr std::size_t kMaxEdges = 10'000'000;
constexpr std::size_t kMaxDevices = 65536;
constexpr double kMaxRatio = 1e6;
constexpr double kMinSpeed = 1e-3, kMaxSpeed = 1e3;
constexpr double kMaxSpread = 3;
constexpr double kMinMemory = 1, kMaxMemory = 100;

/// Who reads whom.
struct Structure {
  std::size_t operators = 0;
  std::vector<std::pair<std::size_t, std::size_t>> edges = {};  ///< producer, reader; in any order
  std::vector<std::string> names = {};                          ///< empty: v0, v1, …
};

/// What a Graph is made of, with costs.
struct Parts {
  std::string name;
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  StageCostRule stage_cost = {StageCostRule::Kind::kOverlap, 0.5};
};

/// A row of the table of families.
struct Row {
  RandomDag::Family family;
  std::string_view name;
  /// Those that not every family has. A key that no row names belongs to all.
  std::vector<std::string_view> keys;
  /// Throws InputError where there is no such network whatever the seed.
  void (*check)(const RandomDag&);
  std::size_t (*edges_at_most)(const RandomDag&);
  /// Operators are numbered so that edges lead upwards. Throws InputError where there is none for
  /// this seed. REQUIRES: check().
  Structure (*draw)(const RandomDag&, Random&);
  /// (optional) Costs of its own, in the place of those that all have.
  void (*price)(const RandomDag&, Parts&) = nullptr;
  /// (optional) How many operators there are, where other keys say so.
  std::size_t (*count)(const RandomDag&) = nullptr;
  std::string_view counted = {};  ///< the same in words
};

std::span<const Row> table();
const Row& row_of(RandomDag::Family family);

// The families that have a file of their own.
void check_layered(const RandomDag& parameters);
std::size_t layered_edges_at_most(const RandomDag& parameters);
Structure draw_layered(const RandomDag& parameters, Random& random);
std::size_t cholesky_edges_at_most(const RandomDag& parameters);
Structure draw_cholesky(const RandomDag& parameters, Random& random);
void check_modules(const RandomDag& parameters);
std::size_t modules_edges_at_most(const RandomDag& parameters);
Structure draw_modules(const RandomDag& parameters, Random& random);
void price_modules(const RandomDag& parameters, Parts& parts);
void check_regal(const RandomDag& parameters);
std::size_t regal_edges_at_most(const RandomDag& parameters);
Structure draw_regal(const RandomDag& parameters, Random& random);
void price_regal(const RandomDag& parameters, Parts& parts);
void check_bert(const RandomDag& parameters);
std::size_t bert_operators(const RandomDag& parameters);
Structure draw_bert(const RandomDag& parameters, Random& random);
void price_bert(const RandomDag& parameters, Parts& parts);
void check_lstm(const RandomDag& parameters);
std::size_t lstm_operators(const RandomDag& parameters);
Structure draw_lstm(const RandomDag& parameters, Random& random);
void price_lstm(const RandomDag& parameters, Parts& parts);
std::size_t formula_edges_at_most(const RandomDag& parameters);  ///< of bert and lstm
/// The devices that its operators' times name.
inline constexpr std::size_t kModuleDevices = 3;

/// Edges without directions: of each two, the lesser operator first.
using Pairs = std::set<std::pair<std::size_t, std::size_t>>;
/// As one of the modules is wired. REQUIRES: as many nodes as its wiring needs.
Pairs wired(const RandomModules& modules, Random& random);

/// Throws InputError where the parameters are out of range or the family's check() does.
void check(const RandomDag& parameters);

Parts draw_parts(const RandomDag& parameters);
Graph assembled(Parts parts);

/// "random network, layers: ", before what is wrong with it.
std::string key_words(std::string_view key);

/// By the C library's log and cos.
double normal(Random& random, double mean, double deviation);
/// A number of that mean whose logarithm has that standard deviation. By the C library's exp, log
/// and cos.
double lognormal(Random& random, double mean, double deviation);

template <class Value>
void shuffle(std::vector<Value>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i)]);
  }
}

}  // namespace hios::families
