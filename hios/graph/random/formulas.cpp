// Part of hios/graph/random/families.h: networks by formula, without randomness: a transformer
// encoder like BERT (Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional
// Transformers for Language Understanding", section 3) and layers of LSTM cells, unrolled
// (Hochreiter and Schmidhuber, "Long Short-Term Memory", Neural Computation 9(8), 1997). The
// testbed of Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN
// Inference", section 5, has both, with costs that are not published: ours are those of a device
// with 1 TFLOP/s that reads and writes memory at 100 GB/s, whichever takes longer, and of a link
// with 10 GB/s; numbers of four bytes.
// Test: tests/hios/graph/random/random_formulas_test.cpp.
#include <algorithm>
#include <array>

#include "hios/base/error.h"
#include "hios/graph/random/families.h"

namespace hios::families {
namespace {

constexpr double kFlopsInMs = 1e9, kBytesInMs = 1e8, kLinkBytesInMs = 1e7;
constexpr double kNumber = 4;  // bytes
constexpr double kOneHeadOps = 3, kOtherOps = 10;
constexpr std::size_t kCellOps = 5;

/// An operator and its costs.
struct Made {
  std::string name, block;
  double flops = 0;
  double outputs = 0;     ///< numbers that it produces
  double parameters = 0;  ///< numbers of its weights
  double streamed = 0;    ///< numbers that it reads in addition to inputs and parameters
};

/// Operators in topological order.
class Network {
 public:
  using Id = std::size_t;

  Id add(Made made, std::initializer_list<Id> reads) {
    return add(std::move(made), std::vector<Id>(reads));
  }
  Id add(Made made, const std::vector<Id>& reads) {
    for (const Id each : reads) edges_.emplace_back(each, made_.size());
    made_.push_back(std::move(made));
    return made_.size() - 1;
  }

  Structure structure() const {
    Structure structure{.operators = made_.size(), .edges = edges_};
    for (const Made& each : made_) structure.names.push_back(each.name);
    return structure;
  }

  void set_costs(GraphDraft& draft) const {
    std::vector<double> moved;  // bytes
    for (std::size_t v = 0; v < made_.size(); ++v) {
      const Made& made = made_[v];
      draft.operators[v].block = made.block;
      draft.operators[v].memory_bytes = static_cast<Bytes>(kNumber * made.outputs);
      draft.operators[v].parameter_bytes = static_cast<Bytes>(kNumber * made.parameters);
      moved.push_back(kNumber * (made.outputs + made.parameters + made.streamed));
    }
    for (Edge& edge : draft.edges) {
      edge.size_bytes = draft.operators[edge.from.index()].memory_bytes;
      edge.transfer_ms = static_cast<double>(edge.size_bytes) / kLinkBytesInMs;
      moved[edge.to.index()] += static_cast<double>(edge.size_bytes);
    }
    for (std::size_t v = 0; v < made_.size(); ++v) {
      draft.operators[v].time_ms = std::max(made_[v].flops / kFlopsInMs, moved[v] / kBytesInMs);
      draft.operators[v].utilization = 1;
    }
    draft.stage_cost = {};
  }

 private:
  std::vector<Made> made_;
  std::vector<std::pair<Id, Id>> edges_;
};

/// Encoder layers for s tokens of h numbers: attention with a heads, and two dense layers with 4h
/// numbers between them.
class Encoder {
 public:
  explicit Encoder(const RandomDag& parameters)
      : heads_(parameters.heads),
        s_(static_cast<double>(parameters.length)),
        h_(static_cast<double>(parameters.hidden)) {
    Network::Id input =
        network_.add({"embedding", "embedding", 2 * s_ * h_, s_ * h_, 0, s_ * h_}, {});
    for (std::size_t i = 0; i < parameters.layers; ++i) input = layer(i, input);
    network_.add({"pooler", "pooler", 2 * h_ * h_, h_, h_ * h_ + h_}, {input});
  }
  const Network& network() const { return network_; }

 private:
  Network::Id layer(std::size_t number, Network::Id input) {
    const std::string block = "layer" + std::to_string(number);
    const auto made = [&](const std::string& name, double flops, double outputs,
                          double parameters = 0) {
      return Made{block + "." + name, block, flops, outputs, parameters};
    };
    const auto dense = [&](const std::string& name, double from, double to) {
      return made(name, 2 * s_ * from * to, s_ * to, from * to + to);
    };
    const auto norm = [&](const std::string& name) {
      return made(name, 10 * s_ * h_, s_ * h_, 2 * h_);
    };
    const auto query = network_.add(dense("query", h_, h_), {input});
    const auto key = network_.add(dense("key", h_, h_), {input});
    const auto value = network_.add(dense("value", h_, h_), {input});
    const double head = h_ / static_cast<double>(heads_);
    std::vector<Network::Id> contexts;
    for (std::size_t i = 0; i < heads_; ++i) {
      const std::string which = std::to_string(i);
      const auto scores =
          network_.add(made("scores" + which, 2 * s_ * s_ * head, s_ * s_), {query, key});
      const auto softmax = network_.add(made("softmax" + which, 5 * s_ * s_, s_ * s_), {scores});
      contexts.push_back(
          network_.add(made("context" + which, 2 * s_ * s_ * head, s_ * head), {softmax, value}));
    }
    const auto joined = network_.add(made("heads", 0, s_ * h_), contexts);
    const auto output = network_.add(dense("output", h_, h_), {joined});
    const auto attended = network_.add(norm("attended"), {output, input});
    const auto wide = network_.add(dense("wide", h_, 4 * h_), {attended});
    const auto gelu = network_.add(made("gelu", 8 * s_ * 4 * h_, s_ * 4 * h_), {wide});
    const auto narrow = network_.add(dense("narrow", 4 * h_, h_), {gelu});
    return network_.add(norm("done"), {narrow, attended});
  }

  std::size_t heads_;
  double s_, h_;
  Network network_;
};

/// Cells of h numbers, one a layer and step. A layer's weights count for its first cell; all its
/// cells read them.
Network unrolled(const RandomDag& parameters) {
  Network network;
  const auto h = static_cast<double>(parameters.hidden);
  const double weights = 4 * h * h;
  std::vector<Network::Id> below;  // by step: outputs of the layer below
  for (std::size_t layer = 0; layer < parameters.layers; ++layer) {
    const std::string block = "layer" + std::to_string(layer);
    std::vector<Network::Id> outputs;
    Network::Id cell = 0;
    for (std::size_t step = 0; step < parameters.length; ++step) {
      const std::string name = block + ".step" + std::to_string(step) + ".";
      const bool first = step == 0;
      const auto gemm = [&](const std::string& which) {
        return Made{name + which,       block, 2 * weights, 4 * h, first ? weights + 4 * h : 0,
                    first ? 0 : weights};
      };
      using Reads = std::vector<Network::Id>;
      const auto read = network.add(gemm("input"), below.empty() ? Reads{} : Reads{below[step]});
      const auto again = network.add(gemm("state"), first ? Reads{} : Reads{outputs.back()});
      const auto gates = network.add({name + "gates", block, 32 * h, 4 * h}, {read, again});
      cell =
          network.add({name + "cell", block, 4 * h, h}, first ? Reads{gates} : Reads{gates, cell});
      outputs.push_back(network.add({name + "output", block, 6 * h, h}, {gates, cell}));
    }
    below = std::move(outputs);
  }
  return network;
}

void check_sizes(const RandomDag& parameters, double operators) {
  const std::array<std::pair<std::string_view, std::size_t>, 4> sizes{
      {{"layers", parameters.layers},
       {"heads", parameters.heads},
       {"hidden", parameters.hidden},
       {"length", parameters.length}}};
  for (const auto& [key, value] : sizes) {
    if (value < 1 || value > kMaxOperators) {
      throw InputError(key_words(key) + "must be 1 to " + std::to_string(kMaxOperators));
    }
  }
  if (operators > static_cast<double>(kMaxOperators)) {
    throw InputError(key_words("layers") + "they have more than " + std::to_string(kMaxOperators) +
                     " operators together; give fewer");
  }
  if (parameters.operators != static_cast<std::size_t>(operators)) {
    throw InputError(key_words("n") + "this network has " +
                     std::to_string(static_cast<std::size_t>(operators)) +
                     " operators; give that number");
  }
}

}  // namespace

std::size_t bert_operators(const RandomDag& parameters) {
  const double heads = kOneHeadOps * static_cast<double>(parameters.heads);
  const double all = static_cast<double>(parameters.layers) * (heads + kOtherOps) + 2;
  return static_cast<std::size_t>(std::min(all, 1e15));
}

std::size_t lstm_operators(const RandomDag& parameters) {
  return static_cast<std::size_t>(std::min(
      static_cast<double>(parameters.layers) * static_cast<double>(parameters.length * kCellOps),
      1e15));
}

void check_bert(const RandomDag& parameters) {
  check_sizes(parameters, static_cast<double>(bert_operators(parameters)));
  if (parameters.hidden % parameters.heads == 0) return;
  throw InputError(key_words("heads") + std::to_string(parameters.hidden) +
                   " hidden numbers cannot be shared evenly by " +
                   std::to_string(parameters.heads) + "; give a divisor");
}

void check_lstm(const RandomDag& parameters) {
  check_sizes(parameters, static_cast<double>(lstm_operators(parameters)));
}

std::size_t formula_edges_at_most(const RandomDag& parameters) { return 2 * parameters.operators; }

Structure draw_bert(const RandomDag& parameters, Random&) {
  return Encoder(parameters).network().structure();
}

void set_bert_costs(const RandomDag& parameters, GraphDraft& draft) {
  Encoder(parameters).network().set_costs(draft);
}

Structure draw_lstm(const RandomDag& parameters, Random&) {
  return unrolled(parameters).structure();
}

void set_lstm_costs(const RandomDag& parameters, GraphDraft& draft) {
  unrolled(parameters).set_costs(draft);
}

}  // namespace hios::families
