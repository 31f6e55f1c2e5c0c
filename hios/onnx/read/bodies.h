#pragma once

#include <string>
#include <vector>

#include "hios/onnx/proto.h"

/// Nodes that stand for a node: the body of a function of the model, a branch of an If, one
/// iteration of a Loop. They are copied, under names of their own.
namespace hios::onnx {

/// A body, renamed: value x of the body is PREFIX/x.
struct Body {
  std::vector<proto::NodeProto> nodes;
  std::vector<std::string> inputs;  ///< formal inputs; empty: left out by the caller
  std::vector<std::string> outputs;
};

/// Returns true if a function has an attribute of this name.
bool takes_attribute(const proto::FunctionProto& function, const std::string& name);

/// Returns the body of a function as this node calls it, with the call's attributes.
Body function_body(const proto::FunctionProto& function, const proto::NodeProto& call,
                   const std::string& prefix);

/// Returns the nodes of a graph inside a node, which may read values outside. Initializers become
/// Constant nodes.
Body graph_body(const proto::GraphProto& graph, const std::string& prefix);

/// Returns the names that a node reads, each as often as it reads it, also from its graphs.
std::vector<std::string> names_read(const proto::NodeProto& node);

}  // namespace hios::onnx
