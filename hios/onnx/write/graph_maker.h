#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "hios/model/tensor.h"
#include "hios/onnx/proto.h"

namespace hios::onnx {

/// A node being made: its attributes one after the other.
class NodeMaker {
 public:
  explicit NodeMaker(proto::NodeProto& node) : node_(node) {}

  NodeMaker& set(const char* name, std::int64_t value);
  NodeMaker& set(const char* name, const std::vector<std::int64_t>& values);
  NodeMaker& set(const char* name, float value);
  NodeMaker& set(const char* name, std::string_view text);

 private:
  proto::AttributeProto& add(const char* name, proto::AttributeProto::AttributeType type);
  proto::NodeProto& node_;
};

/// An ONNX graph being made, whose values are called by names that are given once.
class GraphMaker {
 public:
  explicit GraphMaker(proto::GraphProto& graph) : graph_(graph) {}

  /// The name, or one like it that is not taken; from now on it is.
  std::string fresh(const std::string& name);

  /// The node is called so, or like it where another is. REQUIRES: a name, given by fresh, for the
  /// output.
  NodeMaker node(std::string_view type, const std::string& name,
                 const std::vector<std::string>& inputs, const std::string& output);
  /// A node that only helps: both it and its output are called like `name`. Returns the output.
  std::string helper(std::string_view type, const std::string& name,
                     const std::vector<std::string>& inputs);

  // Constants; each returns the value's name.
  std::string floats(const std::string& name, const std::vector<std::int64_t>& dims,
                     std::span<const float> values);
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values);

  std::string transposed(const std::string& value, const std::vector<std::int64_t>& axes);
  std::string reshaped(const std::string& value, const std::vector<std::int64_t>& dims);
  /// An image (N, C, H, W) read in another shape of as many values, which lie in the same order in
  /// memory (Layer::input_shapes).
  std::string read_as(const std::string& value, const Shape& own, const Shape& wanted);
  /// Between an image of this shape and a tensor of the dims by which people know it
  /// (NamedOutput::dims).
  std::string from_dims(const std::string& value, const std::vector<std::int64_t>& dims,
                        const Shape& shape);
  std::string to_dims(const std::string& value, const Shape& shape,
                      const std::vector<std::int64_t>& dims);

 private:
  proto::GraphProto& graph_;
  std::unordered_set<std::string> taken_;  ///< names of values
  std::unordered_set<std::string> nodes_;  ///< names of nodes, which are no values'
};

/// (N, C, H, W).
inline std::vector<std::int64_t> dims_of(const Shape& shape) {
  return {shape.n, shape.c, shape.h, shape.w};
}

}  // namespace hios::onnx
