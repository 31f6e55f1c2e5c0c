#include "hios/model/networks/networks.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/graph/model_summary.h"

namespace hios::models {
namespace {

Model built(std::string_view name) {
  const Entry* entry = find(name);
  return entry->build(1, entry->default_size, entry->default_size);
}

Json reference(const std::string& name) {
  return read_json(HIOS_SOURCE_DIR "/tests/data/" + name + ".json");
}

/// The layers of one operator by role, taken apart without the help of coarsen's own patterns.
struct Anatomy {
  std::vector<Conv> convolutions;
  bool relu_first = false;  ///< before the convolutions, after the sum
  bool relu_last = false;   ///< after them
  std::optional<Pool> pool;
  bool global_pool = false;
};

Anatomy anatomy(const CoarseGraph& coarse, OpId id, const Model& model) {
  Anatomy result;
  for (const LayerId layer_id : coarse.layers(id).layers) {
    const LayerKind& kind = model.layer(layer_id).kind;
    if (const auto* conv = std::get_if<Conv>(&kind)) result.convolutions.push_back(*conv);
    if (const auto* pool = std::get_if<Pool>(&kind)) result.pool = *pool;
    if (std::holds_alternative<GlobalAveragePool>(kind)) result.global_pool = true;
    if (std::holds_alternative<Relu>(kind)) {
      (result.convolutions.empty() ? result.relu_first : result.relu_last) = true;
    }
  }
  return result;
}

/// The combination of an operator's inputs: outer values concatenated, inner ones summed. The
/// inner ones are sorted, since a sum has no order.
using Terms = std::vector<std::vector<std::string>>;

/// Operator i of the data has name data_names[i]; the model's input is "0".
Terms terms_of(const CoarseGraph& coarse, OpId id, const Model& model,
               const std::vector<std::string>& data_names) {
  const OperatorLayers& op = coarse.layers(id);
  const auto value = [&](TensorId tensor) {
    const auto producer = coarse.producer(tensor);
    return producer ? data_names[producer->index()] : std::string("0");
  };
  const auto summed = [&](TensorId tensor) {
    const auto producer = model.tensor(tensor).producer;
    const bool inside = producer && coarse.producer(tensor) == id;
    std::vector<std::string> values;
    if (inside && std::holds_alternative<Sum>(model.layer(*producer).kind)) {
      for (const TensorId input : model.layer(*producer).inputs) values.push_back(value(input));
    } else {
      values.push_back(value(tensor));
    }
    std::sort(values.begin(), values.end());
    return values;
  };

  const Layer& last = model.layer(op.layers.back());
  Terms terms;
  if (std::holds_alternative<Concat>(last.kind)) {
    for (const TensorId input : last.inputs) terms.push_back(summed(input));
  } else {
    const Layer& first = model.layer(op.layers.front());
    const bool sums = std::holds_alternative<Sum>(first.kind);
    terms.push_back(summed(sums ? first.output : first.inputs.front()));
  }
  return terms;
}

Extent extent(const Json& pair) {
  return {pair[0].get<std::int64_t>(), pair[1].get<std::int64_t>()};
}

void expect_window(const Json& data, const Extent& kernel, const Extent& stride,
                   const Padding& padding) {
  EXPECT_EQ(kernel, extent(data["kernel"]));
  EXPECT_EQ(stride, extent(data["stride"]));
  EXPECT_EQ(padding, Padding(extent(data["padding"])));
}

void expect_pool(const Json& data, const Anatomy& op, const Shape& input) {
  EXPECT_TRUE(op.convolutions.empty());
  const std::string type = data["pool_type"];
  if (type == "global_avg") {
    EXPECT_TRUE(op.global_pool);
    EXPECT_EQ(extent(data["kernel"]), (Extent{input.h, input.w}));
    return;
  }
  ASSERT_TRUE(op.pool);
  EXPECT_EQ(op.pool->kind, type == "max" ? Pool::Kind::kMax : Pool::Kind::kAverage);
  expect_window(data, op.pool->kernel, op.pool->stride, op.pool->padding);
}

/// The kind, window, groups and activation of one operator against the data.
void expect_operator(const Json& data, const Anatomy& op, const Shape& input) {
  const std::string type = data["type"];
  if (type == "pool") return expect_pool(data, op, input);
  EXPECT_FALSE(op.pool || op.global_pool);
  if (type == "identity" || type == "relu") {
    EXPECT_TRUE(op.convolutions.empty());
    EXPECT_EQ(op.relu_first, type == "relu");
    return;
  }
  const bool separable = type == "ReluSepConv";
  ASSERT_EQ(op.convolutions.size(), separable ? 2u : 1u);
  const Conv& first = op.convolutions.front();
  expect_window(data, first.kernel, first.stride, first.padding);
  EXPECT_EQ(first.groups, data["groups"].get<std::int64_t>());
  EXPECT_EQ(op.relu_first, type != "conv");
  EXPECT_EQ(op.relu_last, data["act"] == "relu");
  EXPECT_EQ(op.convolutions.back().bias, true);
  if (separable) {
    EXPECT_EQ(first.bias, false);
    EXPECT_EQ(first.out_channels, first.groups);
    EXPECT_EQ(op.convolutions[1].kernel, (Extent{1, 1}));
    EXPECT_EQ(op.convolutions[1].groups, 1);
  }
}

struct Expected {
  std::string name;
  std::size_t operators;
  std::size_t dependencies;
  std::size_t distinct_dependencies;
  double gflop;
  std::int64_t parameters;
  std::string largest_tensor;
  Bytes largest_tensor_bytes;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

class Network : public ::testing::TestWithParam<Expected> {};

TEST_P(Network, HasEveryOperatorOfTheReferenceGraph) {
  const Json data = reference(GetParam().name);
  const Model model = built(GetParam().name);
  const CoarseGraph coarse = coarsen(model);
  ASSERT_EQ(coarse.graph.size(), data["ops"].size());

  std::vector<std::string> data_names;
  for (const Json& op : data["ops"]) data_names.push_back(op["name"]);
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    const Json& op = data["ops"][i];
    SCOPED_TRACE(coarse.graph.op(OpId(i)).name + " = " + op.dump());
    const Shape& out = model.tensor(coarse.layers(OpId(i)).output).shape;
    EXPECT_EQ(out, (Shape{1, op["out"][0], op["out"][1], op["out"][2]}));
    EXPECT_EQ(coarse.graph.op(OpId(i)).memory_bytes,
              out.size_bytes(element_bytes(Precision::kFp32)));
    const Shape& in = model.tensor(coarse.layers(OpId(i)).inputs.front()).shape;
    expect_operator(op, anatomy(coarse, OpId(i), model), in);

    Terms terms = op["terms"].get<Terms>();
    for (auto& summed : terms) std::sort(summed.begin(), summed.end());
    EXPECT_EQ(terms_of(coarse, OpId(i), model, data_names), terms);
  }
}

TEST_P(Network, HasEveryDependencyOfTheReferenceGraph) {
  const Json data = reference(GetParam().name);
  const Model model = built(GetParam().name);
  const CoarseGraph coarse = coarsen(model);

  using NamedEdge = std::pair<std::string, std::string>;
  std::multiset<NamedEdge> expected;
  for (const Json& edge : data["edges"]) {
    if (edge[0] != "0") expected.emplace(edge[0], edge[1]);
  }
  std::multiset<NamedEdge> actual;
  const auto data_name = [&](OpId id) {
    return data["ops"][id.index()]["name"].get<std::string>();
  };
  for (const Edge& edge : coarse.graph.edges()) {
    actual.emplace(data_name(edge.from), data_name(edge.to));
    EXPECT_EQ(edge.size_bytes, coarse.graph.op(edge.from).memory_bytes);
  }
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(actual.size(), GetParam().dependencies);
  EXPECT_EQ(std::set<NamedEdge>(actual.begin(), actual.end()).size(),
            GetParam().distinct_dependencies);
}

TEST_P(Network, IsSummarized) {
  const ModelSummary summary = summarize(built(GetParam().name));
  EXPECT_EQ(summary.name, GetParam().name);
  EXPECT_EQ(summary.operators, GetParam().operators);
  EXPECT_EQ(summary.dependencies, GetParam().dependencies);
  EXPECT_NEAR(summary.gflop, GetParam().gflop, 0.005);
  EXPECT_EQ(summary.parameters, GetParam().parameters);
  EXPECT_EQ(summary.largest_tensor, GetParam().largest_tensor);
  EXPECT_EQ(summary.largest_tensor_bytes, GetParam().largest_tensor_bytes);
}

TEST_P(Network, ListsOperatorsInTopologicalOrder) {
  const CoarseGraph coarse = coarsen(built(GetParam().name));
  const auto order = coarse.graph.topological();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Network, HasBlocksThatFollowEachOther) {
  // Cutting between blocks must leave no dependency that runs backwards, so each block is a run.
  const CoarseGraph coarse = coarsen(built(GetParam().name));
  std::vector<std::string> runs;
  for (const Operator& op : coarse.graph.operators()) {
    ASSERT_FALSE(op.block.empty());
    if (runs.empty() || runs.back() != op.block) runs.push_back(op.block);
  }
  EXPECT_EQ(std::set<std::string>(runs.begin(), runs.end()).size(), runs.size());
}

TEST_P(Network, TakesAnyBatchAndSize) {
  const Entry* entry = find(GetParam().name);
  const CoarseGraph small = coarsen(entry->build(1, 96, 128));
  const CoarseGraph batch = coarsen(entry->build(3, 96, 128));
  EXPECT_EQ(small.graph.size(), GetParam().operators);
  EXPECT_EQ(batch.graph.size(), GetParam().operators);
  for (std::size_t i = 0; i < small.graph.size(); ++i) {
    EXPECT_EQ(3 * small.graph.op(OpId(i)).memory_bytes, batch.graph.op(OpId(i)).memory_bytes);
    EXPECT_NE(small.graph.op(OpId(i)).signature, batch.graph.op(OpId(i)).signature);
  }
  EXPECT_NE(small.graph.digest(), batch.graph.digest());
}

INSTANTIATE_TEST_SUITE_P(
    BuiltIn, Network,
    ::testing::Values(Expected{"inception_v3", 119, 153, 153, 11.42, 21'768'352,
                               "stem/conv_2b_3x3/relu", 4ull * 64 * 147 * 147},
                      Expected{"nasnet_large", 374, 576, 572, 44.37, 79'589'250, "stem/conv",
                               4ull * 96 * 165 * 165},
                      Expected{"squeezenet", 50, 65, 65, 2.374, 1'589'672, "stem/conv1/relu",
                               4ull * 96 * 112 * 112},
                      Expected{"randwire_large", 120, 260, 260, 15.64, 60'603'206, "stem/conv",
                               4ull * 77 * 112 * 112}),
    [](const auto& network) { return network.param.name; });

TEST(Models, AreFoundByName) {
  ASSERT_EQ(all().size(), 4u);
  for (const Entry& entry : all()) EXPECT_EQ(find(entry.name), &entry);
  EXPECT_EQ(find("inception"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

void expect_refused_size(const Entry& entry, std::int64_t batch, std::int64_t height,
                         std::int64_t width, const std::string& named) {
  try {
    entry.build(batch, height, width);
    FAIL() << entry.name << " was built at " << height << "x" << width;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

TEST(Models, RefuseImpossibleSizesAndNameTheLayer) {
  const Entry& inception = *find("inception_v3");
  EXPECT_NO_THROW(inception.build(1, 75, 75));
  expect_refused_size(inception, 1, 74, 75, "layer 'mixed_7a/");
  expect_refused_size(inception, 1, 75, 74, "layer 'mixed_7a/");
  expect_refused_size(inception, 1, 2, 299, "layer 'stem/conv_1a_3x3/conv'");
  expect_refused_size(*find("nasnet_large"), 1, 331, 2, "layer 'stem/conv'");
  EXPECT_NO_THROW(find("nasnet_large")->build(1, 3, 3));
  expect_refused_size(*find("squeezenet"), 1, 20, 224, "layer 'pool8/pool'");
  for (const Entry& entry : all()) {
    expect_refused_size(entry, 0, 224, 224, "an input of 0x3x224x224");
    expect_refused_size(entry, 1, -1, 224, "an input of 1x3x-1x224");
    expect_refused_size(entry, 1, 1ll << 40, 1ll << 40, "no more than 2^40 values");
    expect_refused_size(entry, 1, 1 << 20, 1 << 20, "2^40 values");
  }
}

TEST(Models, KeepNasnetsOddPaths) {
  // Op 57, 60 and 61 of the data: the older state of the second stem cell is summed from two
  // strided convolutions; cells further on concatenate theirs.
  const Model model = built("nasnet_large");
  const CoarseGraph coarse = coarsen(model);
  const auto op = [&](std::string_view name) { return coarse.layers(*coarse.graph.find(name)); };
  EXPECT_EQ(model.layer(op("conv_21").layers.back()).name, "stem_1/older_a/conv");
  EXPECT_EQ(model.layer(op("sum_23").layers.back()).name, "stem_1/older");
  EXPECT_EQ(model.layer(op("concat_43").layers.back()).name, "cell_0/older");
  EXPECT_EQ(model.layer(op("relu_373").layers.back()).name, "head/relu");
}

}  // namespace
}  // namespace hios::models
