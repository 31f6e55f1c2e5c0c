#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/model/layer_kernel.h"
#include "hios/onnx/operators/registry.h"
#include "hios/onnx/read/bodies.h"
#include "hios/onnx/read/value_table.h"

namespace hios::onnx {

/// Reads nodes, one after the other: adds their layers, or computes them where all their inputs are
/// known. The nodes of functions, of the taken branch of an If and of the iterations of a Loop are
/// read in the node's place. Every error names file and node.
class NodeReader {
 public:
  NodeReader(ModelFile& file, const LayerKernel& kernel, std::int64_t opset, Draft& draft);

  /// Refuses all unknown operators of the graph at once, so that nobody finds them one by one.
  void refuse_unknown_operators() const;

  ValueTable& values() { return values_; }
  /// Names a value. Fails for a name that has one.
  void define(const std::string& name, View view);
  /// Counts the values that the file itself holds: the budget of computed ones grows with them.
  void count_in_file(const Constant& constant) { in_file_ += constant.size(); }

  void read(proto::NodeProto& node);
  /// Returns "is not computed" and, where something can be done, what, for an output that no
  /// operator computes: a mask, indices. Empty for any other name.
  std::optional<std::string> why_unknown(const std::string& name) const;

  /// Returns a node's name, fit for files and messages.
  static std::string name_of(const proto::NodeProto& node);

 private:
  using Key = std::pair<std::string, std::string>;  ///< domain and name
  class UnknownOperators;

  const proto::FunctionProto* function_of(const proto::NodeProto& node) const;
  std::vector<const View*> inputs_of(const proto::NodeProto& node) const;
  void set_outputs(const proto::NodeProto& node, const Views& outputs);
  /// `last_uses`: constants that nothing reads after the node.
  Views outputs_of(const Node& node, const Operator& row,
                   const std::vector<const Constant*>& last_uses = {});
  Views emitted(const Node& node, const Operator& row,
                const std::vector<const Constant*>& last_uses);
  Views call(const proto::FunctionProto& function, const proto::NodeProto& node);
  Views choose_branch(const Node& node);
  Views iterate(const Node& node);
  Views stacked(const Node& loop, const std::vector<View>& results);
  Views read_body(Body body, const std::vector<const View*>& inputs, const std::string& name);
  void count_folded(const Node& node, const Views& outputs);
  void count_parameters(const Node& node, std::size_t first);

  ModelFile& file_;
  const LayerKernel& kernel_;
  std::int64_t opset_;
  Draft& draft_;
  std::map<Key, const proto::FunctionProto*> functions_;
  ValueTable values_;
  /// Outputs that no operator computes, with what can be done.
  std::map<std::string, std::string> left_out_;
  std::size_t in_file_ = 0;     ///< values that the file holds
  std::size_t folded_ = 0;      ///< values that were computed
  double operations_ = 0;       ///< of their kernels
  Bytes parameter_bytes_ = 0;   ///< weights of the draft's layers
  std::size_t depth_ = 0;       ///< of bodies in bodies
  std::size_t body_nodes_ = 0;  ///< nodes that were read in bodies, and the bodies
  Bytes body_bytes_ = 0;        ///< their messages
};

}  // namespace hios::onnx
