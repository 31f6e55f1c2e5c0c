#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/backend/tensor_source.h"
#include "engine/backends.h"
#include "engine/job/verification.h"
#include "hios/base/numbers/random.h"
#include "hios/onnx/read/import.h"
#include "support/layers/onnx_builder.h"

/// Networks that write out the function of one layer, computed as they are read and as they are
/// written.
namespace hios::test {

using Layers = std::vector<std::string>;
using Names = std::vector<std::string>;

/// A network with one input "x"; nodes and constants are numbered.
class Net : public OnnxBuilder {
 public:
  explicit Net(const std::vector<std::int64_t>& dims) { input("x", dims); }

  std::string op(const std::string& type, const Names& inputs) {
    return result(node(type, inputs, next(type)));
  }
  std::string op(const std::string& type, const Names& inputs, const char* attribute_name,
                 const std::vector<std::int64_t>& list) {
    proto::NodeProto& added = node(type, inputs, next(type));
    attribute(added, attribute_name, list);
    return result(added);
  }
  proto::NodeProto& last() { return *graph().mutable_node(graph().node_size() - 1); }
  static void number(proto::NodeProto& node, const char* name, float value) {
    proto::AttributeProto& added = *node.add_attribute();
    added.set_name(name);
    added.set_type(proto::AttributeProto::FLOAT);
    added.set_f(value);
  }
  std::string constant(float value) { return constant({}, {value}); }
  std::string constant(const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    const std::string name = next("constant");
    floats(name, dims, values);
    return name;
  }
  /// Adds a constant of random values, far enough from 0 to be divided by.
  std::string drawn(const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
    std::vector<float> values(count);
    for (float& value : values) {
      value = static_cast<float>(random_.uniform(0.25, 1) * (random_.below(2) == 0 ? 1 : -1));
    }
    return constant(dims, values);
  }

 private:
  static std::string result(const proto::NodeProto& node) { return node.output(0); }
  std::string next(const std::string& what) { return what + "_" + std::to_string(count_++); }

  int count_ = 0;
  Random random_{5};
};

inline Layers layers_of(const Model& model) {
  Layers result;
  for (const Layer& layer : model.layers()) result.emplace_back(onnx_type(layer.kind));
  return result;
}

/// An input whose values reach the flat ends of the recognised functions.
class WideInput final : public TensorSource {
 public:
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.weights(model, layer, out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.bias(model, layer, out);
  }
  void input(const Model&, std::span<float> out) override {
    Random random(11);
    for (float& value : out) value = static_cast<float>(random.uniform(-5, 5));
  }

 private:
  SeededSource seeded_{0};
};

/// Returns the model's first output, computed by the reference backend.
inline std::vector<float> first_output(const Model& model) {
  const CoarseGraph coarse = coarsen(model);
  const auto backend = find_backend("reference").make({});
  WideInput source;
  const job::OneRankRun run(coarse, model, *backend, std::vector<int>(coarse.graph.size(), 1),
                            source, "");
  return run.output(*coarse.producer(model.named_outputs().front().tensor));
}

/// Reads the network with every value as an output, so that no pass can change it.
inline Model as_written(Net& net) {
  for (const auto& node : net.graph().node()) {
    if (node.output(0) != net.graph().output(0).name()) net.output(node.output(0));
  }
  return onnx::import_model(net.write());
}

/// Expects that the network, whose last value becomes its output, is read as these layers and
/// computes the same as written.
inline void expect_read_as(Net& net, const Layers& wanted, const std::string& what) {
  SCOPED_TRACE(what);
  net.output(net.last().output(0));
  const Model read = onnx::import_model(net.write());
  EXPECT_EQ(layers_of(read), wanted);
  const Model written = as_written(net);
  EXPECT_GT(written.layers().size(), wanted.size()) << "the network as written has the same layers";
  const std::vector<float> got = first_output(read), expected = first_output(written);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    // Exporters write constants in five digits.
    ASSERT_NEAR(got[i], expected[i], 1e-5 + 1e-4 * std::fabs(expected[i])) << "value " << i;
  }
}

/// Expects that no pass changes the network.
inline void expect_read_as_written(Net& net, const std::string& what) {
  SCOPED_TRACE(what);
  net.output(net.last().output(0));
  const Layers read = layers_of(onnx::import_model(net.write()));
  EXPECT_EQ(read, layers_of(as_written(net)));
}

}  // namespace hios::test
