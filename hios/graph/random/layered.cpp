// Part of hios/graph/random/families.h: the networks of the HIOS paper (Kundu and Shu, "HIOS",
// section V-A), and those with one source and one sink.
//
// Operators are spread over the layers, at least one each, the rest at random. Necessary edges come
// first: each operator after the first layer reads one of the layer before it, so that its layer is
// its depth, and each operator of the first layer has a consumer. The remaining edges are drawn
// uniformly among all other pairs that lead to a later layer.
//
// With one source and one sink (two-terminal), the first and the last layer have one operator, and
// the necessary edges also give each operator before the last layer a consumer in the next one.
// That is the shape of the networks in the paper's published simulation.
//
// Operators are numbered layer by layer, so operator v has a pair for each operator in earlier
// layers. With running totals, one binary search turns a drawn number into a pair. O(E log V)
// unless almost every possible edge is requested. tests/hios/graph/random/random_dag_test.cpp
// checks the rules and pins the numbers.
#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "hios/base/error.h"
#include "hios/graph/random/families.h"

namespace hios::families {
namespace {

/// Numbers of the operators, layer by layer, and of the pairs (u, v) with u in an earlier layer
/// than v: by v, then by u.
class Layers {
 public:
  explicit Layers(const std::vector<std::size_t>& size) {
    begin_.push_back(0);
    for (const std::size_t operators : size) {
      pairs_before_.insert(pairs_before_.end(), operators, begin_.back());
      begin_.push_back(begin_.back() + operators);
    }
    std::exclusive_scan(pairs_before_.begin(), pairs_before_.end(), pairs_before_.begin(),
                        std::uint64_t{0});
    pairs_ = pairs_before_.back() + begin_[size.size() - 1];
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

/// Returns the operators of each layer: one, and the rest spread randomly over the layers from
/// `first` on, without the last `first`. REQUIRES: there is such a layer, or there is no rest.
std::vector<std::size_t> layer_sizes(const RandomDag& parameters, std::size_t first,
                                     Random& random) {
  std::vector<std::size_t> size(parameters.layers, 1);
  for (std::size_t i = parameters.layers; i < parameters.operators; ++i) {
    ++size[first + random.below(parameters.layers - 2 * first)];
  }
  return size;
}

/// Gives each operator after the first layer one input from the layer before. The second layer
/// takes the first one's operators in turn, shuffled; each of those left over gets a consumer.
std::unordered_set<std::uint64_t> needed_edges(const Layers& layers, Random& random) {
  std::unordered_set<std::uint64_t> pairs;
  if (layers.count() == 1) return pairs;
  std::vector<std::size_t> unread(layers.end(0));
  std::iota(unread.begin(), unread.end(), std::size_t{0});
  shuffle(unread, random);

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
    const std::size_t later = layers.operators() - layers.end(0);
    pairs.insert(layers.pair(u, layers.end(0) + random.below(later)));
  }
  return pairs;
}

/// Gives each operator after the first layer one input from the layer before, and each before the
/// last layer a consumer in the next. A layer takes the operators of the one before in turn,
/// shuffled; each of those left over gets a random consumer.
std::unordered_set<std::uint64_t> needed_two_terminal_edges(const Layers& layers, Random& random) {
  std::unordered_set<std::uint64_t> pairs;
  for (std::size_t layer = 1; layer < layers.count(); ++layer) {
    const std::size_t first = layers.begin(layer - 1), begin = layers.begin(layer);
    std::vector<std::size_t> unread(begin - first);
    std::iota(unread.begin(), unread.end(), first);
    shuffle(unread, random);
    for (std::size_t v = begin; v < layers.end(layer); ++v) {
      if (unread.empty()) {
        pairs.insert(layers.pair(first + random.below(begin - first), v));
      } else {
        pairs.insert(layers.pair(unread.back(), v));
        unread.pop_back();
      }
    }
    for (const std::size_t u : unread) {
      pairs.insert(layers.pair(u, begin + random.below(layers.end(layer) - begin)));
    }
  }
  return pairs;
}

/// Adds random edges to the necessary ones and returns all of them, sorted by consumer. Throws
/// where the requested number is impossible.
Structure with_random_edges(const RandomDag& parameters, const Layers& layers,
                            std::unordered_set<std::uint64_t> pairs, Random& random) {
  // Without a requested number, at most as many as the layers have room for.
  const std::uint64_t edges = parameters.edges.value_or(
      std::min<std::uint64_t>(layered_edges_at_most(parameters), layers.pairs()));
  if (edges < pairs.size() || edges > layers.pairs()) {
    throw InputError(key_words("edges") + std::to_string(edges) +
                     " cannot be: " + std::to_string(parameters.operators) + " operators in " +
                     std::to_string(parameters.layers) + " layers (seed " +
                     std::to_string(parameters.seed) + ") take " + std::to_string(pairs.size()) +
                     " to " + std::to_string(layers.pairs()));
  }
  while (pairs.size() < edges) pairs.insert(random.below(layers.pairs()));
  std::vector<std::uint64_t> sorted(pairs.begin(), pairs.end());
  std::sort(sorted.begin(), sorted.end());
  Structure made{.operators = parameters.operators};
  for (const std::uint64_t pair : sorted) made.edges.push_back(layers.ends(pair));
  return made;
}

/// Throws where the layers do not fit the operators, or where there are too many edges.
void check_layers_and_edges(const RandomDag& parameters) {
  if (parameters.layers < 1 || parameters.layers > parameters.operators) {
    throw InputError(key_words("layers") + std::to_string(parameters.layers) +
                     " cannot be; a layer holds at least one of the " +
                     std::to_string(parameters.operators) + " operators");
  }
  if (layered_edges_at_most(parameters) > kMaxEdges) {
    throw InputError(key_words("edges") + "must be at most " + std::to_string(kMaxEdges));
  }
}

}  // namespace

std::size_t layered_edges_at_most(const RandomDag& parameters) {
  return parameters.edges.value_or(2 * parameters.operators);
}

void check_layered(const RandomDag& parameters) {
  check_layers_and_edges(parameters);
  if (parameters.layers == 1 && parameters.operators > 1) {
    throw InputError(key_words("layers") + "1 leaves all " + std::to_string(parameters.operators) +
                     " operators unconnected; give 2 or more");
  }
}

Structure draw_layered(const RandomDag& parameters, Random& random) {
  const Layers layers(layer_sizes(parameters, 0, random));
  return with_random_edges(parameters, layers, needed_edges(layers, random), random);
}

void check_two_terminal(const RandomDag& parameters) {
  check_layers_and_edges(parameters);
  if (parameters.layers < 3 && parameters.layers < parameters.operators) {
    throw InputError(key_words("layers") + std::to_string(parameters.layers) +
                     " leaves no layer between source and sink for the rest of the " +
                     std::to_string(parameters.operators) + " operators; give " +
                     (parameters.operators == 2 ? "2" : "3 or more"));
  }
}

Structure draw_two_terminal(const RandomDag& parameters, Random& random) {
  const Layers layers(layer_sizes(parameters, 1, random));
  return with_random_edges(parameters, layers, needed_two_terminal_edges(layers, random), random);
}

}  // namespace hios::families
