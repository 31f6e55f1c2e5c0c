#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hios/model/tensor.h"
#include "hios/onnx/proto.h"

namespace hios::onnx {

/// Adds attributes and outputs to a new node.
class NodeMaker {
 public:
  explicit NodeMaker(proto::NodeProto& node) : node_(node) {}

  NodeMaker& output(const std::string& name);  ///< a further one
  NodeMaker& set(const char* name, std::int64_t value);
  NodeMaker& set(const char* name, const std::vector<std::int64_t>& values);
  NodeMaker& set(const char* name, float value);
  NodeMaker& set(const char* name, std::string_view text);

 private:
  proto::AttributeProto& add(const char* name, proto::AttributeProto::AttributeType type);
  proto::NodeProto& node_;
};

/// Adds nodes and constants to an ONNX graph, with unique names.
class GraphMaker {
 public:
  explicit GraphMaker(proto::GraphProto& graph) : graph_(graph) {}

  /// Returns the name, with a number appended if a value has it, and reserves it.
  std::string fresh(const std::string& name);

  /// Adds a node. Its name gets a number if another node has it. REQUIRES: `output` is a name from
  /// fresh().
  NodeMaker node(std::string_view type, const std::string& name,
                 const std::vector<std::string>& inputs, const std::string& output);
  /// Adds an auxiliary node that is named like its output. Returns the output's name.
  std::string helper(std::string_view type, const std::string& name,
                     const std::vector<std::string>& inputs);

  // Constants; each returns the value's name.
  std::string floats(const std::string& name, const std::vector<std::int64_t>& dims,
                     std::span<const float> values);
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values);

  std::string transposed(const std::string& value, const std::vector<std::int64_t>& axes);
  std::string reshaped(const std::string& value, const std::vector<std::int64_t>& dims);
  /// Adds the nodes that read an image (N, C, H, W) in another shape of as many values, in the same
  /// order in memory (Layer::input_shapes).
  std::string read_as(const std::string& value, const Shape& own, const Shape& wanted);
  // Convert between a tensor of the model's dims (NamedInput, NamedOutput) and an image of a shape.

  std::string from_dims(const std::string& value, const std::vector<std::int64_t>& dims,
                        const Shape& shape);
  std::string to_dims(const std::string& value, const Shape& shape,
                      const std::vector<std::int64_t>& dims);

 private:
  proto::GraphProto& graph_;
  std::unordered_set<std::string> taken_;  ///< names of values
  std::unordered_set<std::string> nodes_;  ///< names of nodes; values have names of their own
};

/// Returns a shape as (N, C, H, W).
inline std::vector<std::int64_t> dims_of(const Shape& shape) {
  return {shape.n, shape.c, shape.h, shape.w};
}

}  // namespace hios::onnx
