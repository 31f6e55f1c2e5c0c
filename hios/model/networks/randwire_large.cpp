// Part of hios/model/networks/networks.h.

/// RandWire, the large variant (Xie et al., 2019): a stem convolution and four stages, each a
/// random Watts-Strogatz graph turned into a DAG. A node sums what it reads and applies relu,
/// depthwise 3x3 and pointwise convolution; a node without predecessors reads the stage's input, at
/// stride 2; the stage's output is the sum of the nodes without successors. (The paper weights its
/// sums; the weights are left out, as in the IOS study, whose random graphs these are.) 120
/// operators, 260 dependencies; tests/hios/model/networks/networks_test.cpp compares each with the
/// reference graph.
#include <vector>

#include "hios/model/networks/block.h"
#include "hios/model/networks/networks.h"

namespace hios::models {
namespace {

/// A stage's random graph: the predecessors of each node, and the nodes without successors.
struct Wiring {
  std::int64_t channels;
  std::vector<std::vector<std::size_t>> reads;
  std::vector<std::size_t> ends;
};

const std::vector<Wiring>& wirings() {
  static const std::vector<Wiring> kWirings = {{154,
                                                {{},
                                                 {},
                                                 {},
                                                 {2, 1},
                                                 {},
                                                 {4, 0},
                                                 {},
                                                 {},
                                                 {7, 6},
                                                 {7, 6, 4, 1},
                                                 {9},
                                                 {7, 2, 1, 9},
                                                 {0, 9},
                                                 {4, 8, 12, 11},
                                                 {1, 5, 13, 10, 3},
                                                 {6, 1, 0, 8, 3, 14}},
                                                {15}},
                                               {308,
                                                {{},
                                                 {},
                                                 {},
                                                 {2},
                                                 {},
                                                 {4},
                                                 {4},
                                                 {6},
                                                 {7},
                                                 {8},
                                                 {9},
                                                 {1, 10},
                                                 {2, 8},
                                                 {0, 12},
                                                 {7},
                                                 {14, 9},
                                                 {15},
                                                 {0, 8, 15},
                                                 {2, 1, 17, 3},
                                                 {9, 17, 16},
                                                 {4, 15},
                                                 {0, 14, 20, 3},
                                                 {7, 11, 21, 5},
                                                 {12, 21},
                                                 {11, 20},
                                                 {24, 13},
                                                 {4, 6, 10, 25},
                                                 {15, 24},
                                                 {6, 20, 24},
                                                 {28, 16},
                                                 {6, 29},
                                                 {14, 11, 20, 29, 18, 30, 22, 25}},
                                                {19, 23, 27, 26, 31}},
                                               {616,
                                                {{},
                                                 {0},
                                                 {},
                                                 {},
                                                 {3},
                                                 {4},
                                                 {},
                                                 {6},
                                                 {6},
                                                 {8},
                                                 {9},
                                                 {9},
                                                 {8, 7},
                                                 {12, 0},
                                                 {},
                                                 {14},
                                                 {14, 12},
                                                 {14, 8, 16, 9, 11},
                                                 {17},
                                                 {3, 4, 1, 18},
                                                 {2, 16},
                                                 {20, 11, 1, 13},
                                                 {14, 8, 20},
                                                 {22},
                                                 {11, 15, 23},
                                                 {7, 2, 21, 23},
                                                 {20, 25, 24, 19},
                                                 {12, 10, 19, 26},
                                                 {8, 5, 21, 27},
                                                 {14, 6, 5, 27, 28},
                                                 {20, 22, 9},
                                                 {4, 30}},
                                                {31, 29}},
                                               {1232,
                                                {{},
                                                 {},
                                                 {1},
                                                 {},
                                                 {3},
                                                 {3, 1},
                                                 {5, 0},
                                                 {3, 2},
                                                 {3, 7, 5},
                                                 {5, 8, 4},
                                                 {9},
                                                 {},
                                                 {11, 4},
                                                 {},
                                                 {13},
                                                 {14},
                                                 {15},
                                                 {4, 16},
                                                 {16, 0},
                                                 {13, 11, 18, 12},
                                                 {8, 15, 19},
                                                 {},
                                                 {21, 2, 10, 6},
                                                 {13, 1, 22},
                                                 {21},
                                                 {13, 4, 24, 17},
                                                 {11, 16, 24, 20, 17},
                                                 {2, 5, 9, 24},
                                                 {14, 9, 27, 17},
                                                 {15, 25, 28},
                                                 {21, 14, 18},
                                                 {0, 30}},
                                                {31, 23, 26, 29}}};
  return kWirings;
}

TensorId random_stage(Block& block, TensorId x, const Wiring& wiring) {
  std::vector<TensorId> nodes;
  const auto gather = [&](const std::vector<std::size_t>& indices) {
    std::vector<TensorId> tensors;
    for (const std::size_t i : indices) tensors.push_back(nodes[i]);
    return tensors;
  };
  for (const std::vector<std::size_t>& reads : wiring.reads) {
    const std::string name = "node_" + std::to_string(nodes.size());
    const std::vector<TensorId> inputs = gather(reads);
    if (inputs.empty()) {
      nodes.push_back(block.relu_sepconv(name, x, wiring.channels, 3, 2));
    } else {
      const TensorId sum = inputs.size() == 1 ? inputs.front() : block.sum(name + "/sum", inputs);
      nodes.push_back(block.relu_sepconv(name, sum, wiring.channels, 3));
    }
  }
  return block.sum("sum", gather(wiring.ends));
}

}  // namespace

Model randwire_large(std::int64_t batch, std::int64_t height, std::int64_t width) {
  ModelBuilder model("randwire_large", {batch, 3, height, width});
  TensorId x = Block(model, "stem").conv("conv", model.input(), same(77, {3, 3}, 2));
  int number = 0;
  for (const Wiring& wiring : wirings()) {
    Block stage(model, "stage_" + std::to_string(++number));
    x = random_stage(stage, x, wiring);
    // The relu between the last stage and the head's convolution is an operator of its own in the
    // reference graph, so it belongs to the stage.
    if (number == 4) x = stage.relu("relu", x);
  }
  Block head(model, "head");
  x = head.conv("conv", x, same(1280, {1, 1}));
  head.global_average_pool("pool", x);
  return std::move(model).build();
}

}  // namespace hios::models
