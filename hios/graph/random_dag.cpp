/// Random networks in the manner of the HIOS paper (Kundu and Shu, "HIOS", section V-A).
///
/// Operators are spread over the layers, at least one each, the rest at random. The edges that must
/// be come first: each operator behind the first layer reads one of the layer before it, so that
/// its layer is its depth, and no operator of the first layer stays unread. The remaining edges are
/// drawn uniformly among all pairs that lead to a later layer and are not there yet.
///
/// Operators are numbered layer by layer, so the pairs that lead to operator v are as many as there
/// are operators in earlier layers; with running totals a drawn number becomes a pair by one binary
/// search. O(E log V) unless almost every possible edge is wanted. Structure and costs come from
/// streams of their own: other costs (p) leave the structure as it is.
/// tests/hios/graph/random_dag_test.cpp checks the rules and pins the numbers.
#include "hios/graph/random_dag.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/random.h"

namespace hios {
namespace {

constexpr std::size_t kMaxOperators = 1'000'000;
constexpr std::size_t kMaxEdges = 10'000'000;
constexpr double kMaxRatio = 1e6;

constexpr double kMinTimeMs = 0.1;
constexpr double kMaxTimeMs = 4;
constexpr double kMinUtilization = 0.6;
constexpr double kMinTransferMs = 0.1;

constexpr const char* kExample = "n=200,edges=400,layers=14,p=0.8,seed=3";

std::string place(std::string_view key) { return "random network, " + std::string(key) + ": "; }

template <class Number>
void parse_number(std::string_view key, std::string_view text, Number low, Number high,
                  Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  // Written so that NaN is refused.
  const bool in_range = into >= low && into <= high;
  if (error == std::errc() && end == text.data() + text.size() && in_range) return;
  std::ostringstream range;
  range << low << " to " << high;
  throw InputError(place(key) + "'" + printable(text) + "' is no number from " + range.str());
}

void parse_one(std::string_view key, std::string_view text, RandomDag& into) {
  if (key == "n") {
    parse_number<std::size_t>(key, text, 1, kMaxOperators, into.operators);
  } else if (key == "edges") {
    parse_number<std::size_t>(key, text, 0, kMaxEdges, into.edges.emplace());
  } else if (key == "layers") {
    parse_number<std::size_t>(key, text, 1, kMaxOperators, into.layers);
  } else if (key == "p") {
    parse_number<double>(key, text, 0, kMaxRatio, into.p);
  } else if (key == "seed") {
    parse_number<std::uint64_t>(key, text, 0, std::numeric_limits<std::uint64_t>::max(), into.seed);
  } else if (key == "transfer") {
    if (text != "producer" && text != "consumer") {
      throw InputError(place(key) + quote(text) + " is neither producer nor consumer");
    }
    into.transfer =
        text == "producer" ? RandomDag::Transfer::kProducer : RandomDag::Transfer::kConsumer;
  } else {
    throw InputError("random network: '" + printable(key) +
                     "' is unknown; known are n, edges, layers, p, seed and transfer, as in " +
                     kExample);
  }
}

/// Operators numbered layer by layer, and the numbering of the pairs (u, v) with u in an earlier
/// layer than v: by v, then by u.
class Layers {
 public:
  Layers(const RandomDag& parameters, Random& random) {
    std::vector<std::size_t> size(parameters.layers, 1);
    for (std::size_t i = parameters.layers; i < parameters.operators; ++i) {
      ++size[random.below(parameters.layers)];
    }
    begin_.push_back(0);
    for (const std::size_t operators : size) {
      pairs_before_.insert(pairs_before_.end(), operators, begin_.back());
      begin_.push_back(begin_.back() + operators);
    }
    std::exclusive_scan(pairs_before_.begin(), pairs_before_.end(), pairs_before_.begin(),
                        std::uint64_t{0});
    pairs_ = pairs_before_.back() + begin_[parameters.layers - 1];
  }

  std::size_t count() const { return begin_.size() - 1; }
  std::size_t begin(std::size_t layer) const { return begin_[layer]; }
  std::size_t end(std::size_t layer) const { return begin_[layer + 1]; }
  std::size_t operators() const { return begin_.back(); }
  std::uint64_t pairs() const { return pairs_; }

  std::uint64_t pair(std::size_t u, std::size_t v) const { return pairs_before_[v] + u; }
  std::pair<std::size_t, std::size_t> ends(std::uint64_t pair) const {
    // The last operator whose pairs begin at or before this one; operators of the first layer have
    // none and share their beginning with the first of the second.
    const auto after = std::upper_bound(pairs_before_.begin(), pairs_before_.end(), pair);
    const auto v = static_cast<std::size_t>(after - pairs_before_.begin()) - 1;
    return {static_cast<std::size_t>(pair - pairs_before_[v]), v};
  }

 private:
  std::vector<std::size_t> begin_;           // by layer, and the total
  std::vector<std::uint64_t> pairs_before_;  // by operator
  std::uint64_t pairs_ = 0;
};

/// One input from the layer before for every operator behind the first layer. The second layer
/// takes the first one's operators in turn, shuffled; those left over get a reader of their own.
std::unordered_set<std::uint64_t> needed_edges(const Layers& layers, Random& random) {
  std::unordered_set<std::uint64_t> pairs;
  if (layers.count() == 1) return pairs;
  std::vector<std::size_t> unread(layers.end(0));
  std::iota(unread.begin(), unread.end(), std::size_t{0});
  for (std::size_t i = unread.size(); i > 1; --i) std::swap(unread[i - 1], unread[random.below(i)]);

  for (std::size_t layer = 1; layer < layers.count(); ++layer) {
    const std::size_t first = layers.begin(layer - 1);
    const std::size_t width = layers.end(layer - 1) - first;
    for (std::size_t v = layers.begin(layer); v < layers.end(layer); ++v) {
      std::size_t u = first + random.below(width);
      if (layer == 1 && !unread.empty()) {
        u = unread.back();
        unread.pop_back();
      }
      pairs.insert(layers.pair(u, v));
    }
  }
  for (const std::size_t u : unread) {
    const std::size_t behind = layers.operators() - layers.end(0);
    pairs.insert(layers.pair(u, layers.end(0) + random.below(behind)));
  }
  return pairs;
}

/// All edges as pairs, sorted by reader. Throws where the number wanted cannot be.
std::vector<std::uint64_t> draw_pairs(const RandomDag& parameters, const Layers& layers,
                                      Random& random) {
  std::unordered_set<std::uint64_t> pairs = needed_edges(layers, random);
  // No more than the layers have room for, where nobody asked for a number.
  const std::uint64_t edges = parameters.edges.value_or(
      std::min<std::uint64_t>(parameters.edges_at_most(), layers.pairs()));
  if (edges < pairs.size() || edges > layers.pairs()) {
    throw InputError(place("edges") + std::to_string(edges) +
                     " cannot be: " + std::to_string(parameters.operators) + " operators in " +
                     std::to_string(parameters.layers) + " layers (seed " +
                     std::to_string(parameters.seed) + ") take " + std::to_string(pairs.size()) +
                     " to " + std::to_string(layers.pairs()));
  }
  while (pairs.size() < edges) pairs.insert(random.below(layers.pairs()));
  std::vector<std::uint64_t> sorted(pairs.begin(), pairs.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void check(const RandomDag& parameters) {
  if (parameters.operators < 1 || parameters.operators > kMaxOperators) {
    throw InputError(place("n") + "must be 1 to " + std::to_string(kMaxOperators));
  }
  if (parameters.layers < 1 || parameters.layers > parameters.operators) {
    throw InputError(place("layers") + std::to_string(parameters.layers) +
                     " cannot be; a layer holds at least one of the " +
                     std::to_string(parameters.operators) + " operators");
  }
  if (parameters.layers == 1 && parameters.operators > 1) {
    throw InputError(place("layers") + "1 leaves all " + std::to_string(parameters.operators) +
                     " operators unconnected; give 2 or more");
  }
  if (parameters.edges_at_most() > kMaxEdges) {
    throw InputError(place("edges") + "must be at most " + std::to_string(kMaxEdges));
  }
  if (!(parameters.p >= 0 && parameters.p <= kMaxRatio)) {
    throw InputError(place("p") + "must be 0 to 1e6");
  }
}

}  // namespace

RandomDag parse_random_dag(std::string_view text) {
  RandomDag parameters;
  std::set<std::string_view> given;
  std::size_t begin = 0;
  while (!text.empty() && begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw InputError("random network: '" + printable(item) + "' must be key=value, as in " +
                       kExample);
    }
    const std::string_view key = item.substr(0, equals);
    if (!given.insert(key).second) throw InputError(place(key) + "given twice; remove one");
    parse_one(key, item.substr(equals + 1), parameters);
  }
  if (!given.contains("layers")) {
    parameters.layers = std::min(RandomDag().layers, parameters.operators);
  }
  check(parameters);
  return parameters;
}

Graph random_dag(const RandomDag& parameters) {
  check(parameters);
  Random structure(parameters.seed, "random_dag structure");
  const Layers layers(parameters, structure);
  const std::vector<std::uint64_t> pairs = draw_pairs(parameters, layers, structure);

  Random costs(parameters.seed, "random_dag costs");
  std::vector<Operator> operators(parameters.operators);
  for (std::size_t v = 0; v < operators.size(); ++v) {
    operators[v].name = std::string("v").append(std::to_string(v));
    operators[v].time_ms = costs.uniform(kMinTimeMs, kMaxTimeMs);
    operators[v].has_time = true;
    operators[v].utilization = costs.uniform(kMinUtilization, 1);
  }
  std::vector<Edge> edges;
  edges.reserve(pairs.size());
  for (const std::uint64_t pair : pairs) {
    const auto [u, v] = layers.ends(pair);
    const bool by_producer = parameters.transfer == RandomDag::Transfer::kProducer;
    const double time_ms = operators[by_producer ? u : v].time_ms;
    const double transfer_ms = std::max(kMinTransferMs, parameters.p * time_ms);
    edges.push_back({OpId(u), OpId(v), 0, transfer_ms});
  }
  const std::string name = std::string("dag-") + std::to_string(parameters.operators) + "-" +
                           std::to_string(parameters.seed);
  return Graph(name, std::move(operators), std::move(edges), {StageCostRule::Kind::kOverlap, 0.5});
}

}  // namespace hios
