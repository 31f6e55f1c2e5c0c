#include "hios/onnx/read/bodies.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hios::onnx {
namespace {

/// The new names of a body's values.
class Renaming {
 public:
  explicit Renaming(std::string prefix) : prefix_(std::move(prefix)) {}

  void add(const std::string& name) {
    if (!name.empty()) names_[name] = prefix_ + "/" + name;
  }
  /// Lets the name stand for no value.
  void leave_out(const std::string& name) { names_[name].clear(); }

  /// Returns a value's new name: its own if it comes from outside.
  const std::string& of(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }

  void apply(proto::NodeProto& node) const {
    if (!node.name().empty()) node.set_name(prefix_ + "/" + node.name());
    rename(node);
  }

 private:
  void rename(proto::NodeProto& node) const {
    for (std::string& name : *node.mutable_input()) name = of(name);
    for (std::string& name : *node.mutable_output()) name = of(name);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) rename(graph);
    }
  }

  /// Renames what a nested graph reads from this body, and nothing that it defines itself.
  void rename(proto::GraphProto& graph) const {
    Renaming inner = *this;
    for (const auto& input : graph.input()) inner.names_.erase(input.name());
    for (const auto& tensor : graph.initializer()) inner.names_.erase(tensor.name());
    for (const auto& node : graph.node()) {
      for (const std::string& name : node.output()) inner.names_.erase(name);
    }
    for (auto& node : *graph.mutable_node()) inner.rename(node);
    for (auto& output : *graph.mutable_output()) output.set_name(inner.of(output.name()));
  }

  std::string prefix_;
  std::map<std::string, std::string> names_;
};

void add_names_read(const proto::NodeProto& node, std::vector<std::string>& names) {
  names.insert(names.end(), node.input().begin(), node.input().end());
  const auto add = [&](const proto::GraphProto& graph) {
    for (const auto& inner : graph.node()) add_names_read(inner, names);
    for (const auto& output : graph.output()) names.push_back(output.name());
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add(attribute.g());
    for (const auto& graph : attribute.graphs()) add(graph);
  }
}

/// Returns the defaults of a function's attributes. Message classes of IR 8 do not know that field
/// of IR 9 (attribute_proto) and keep its bytes.
template <class Function>
std::vector<proto::AttributeProto> defaults_of(const Function& function) {
  std::vector<proto::AttributeProto> defaults;
  if constexpr (requires { function.attribute_proto(); }) {
    defaults.assign(function.attribute_proto().begin(), function.attribute_proto().end());
  } else {
    constexpr int kDefaults = 11;
    const auto& unknown = function.unknown_fields();
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& field = unknown.field(i);
      if (field.number() != kDefaults || field.type() != field.TYPE_LENGTH_DELIMITED) continue;
      defaults.emplace_back().ParseFromString(field.length_delimited());
    }
  }
  return defaults;
}

using ByName = std::map<std::string, const proto::AttributeProto*>;

/// Replaces references to the function's attributes by their values; removes those that have none.
void set_attributes(proto::NodeProto& node, const ByName& values) {
  auto& attributes = *node.mutable_attribute();
  for (int i = attributes.size(); i-- > 0;) {
    proto::AttributeProto& attribute = attributes[i];
    if (attribute.has_g()) {
      for (auto& inner : *attribute.mutable_g()->mutable_node()) set_attributes(inner, values);
    }
    if (attribute.ref_attr_name().empty()) continue;
    const auto found = values.find(attribute.ref_attr_name());
    if (found == values.end()) {
      attributes.DeleteSubrange(i, 1);
      continue;
    }
    const std::string name = attribute.name();
    attribute = *found->second;
    attribute.set_name(name);
  }
}

}  // namespace

std::vector<std::string> names_read(const proto::NodeProto& node) {
  std::vector<std::string> names;
  add_names_read(node, names);
  return names;
}

bool takes_attribute(const proto::FunctionProto& function, const std::string& name) {
  const auto is_it = [&](const auto& attribute) { return attribute.name() == name; };
  const auto& names = function.attribute();
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::ranges::any_of(defaults_of(function), is_it);
}

Body function_body(const proto::FunctionProto& function, const proto::NodeProto& call,
                   const std::string& prefix) {
  Body body;
  Renaming names(prefix);
  for (int i = 0; i < function.input_size(); ++i) {
    const bool given = i < call.input_size() && !call.input(i).empty();
    names.add(function.input(i));
    if (!given) names.leave_out(function.input(i));
    body.inputs.push_back(names.of(function.input(i)));
  }
  for (const auto& node : function.node()) {
    for (const std::string& name : node.output()) names.add(name);
  }
  const std::vector<proto::AttributeProto> defaults = defaults_of(function);
  ByName attributes;
  for (const auto& attribute : defaults) attributes[attribute.name()] = &attribute;
  for (const auto& attribute : call.attribute()) attributes[attribute.name()] = &attribute;
  for (const auto& node : function.node()) {
    proto::NodeProto& added = body.nodes.emplace_back(node);
    set_attributes(added, attributes);
    names.apply(added);
  }
  for (const std::string& name : function.output()) body.outputs.push_back(names.of(name));
  return body;
}

Body graph_body(const proto::GraphProto& graph, const std::string& prefix) {
  Body body;
  Renaming names(prefix);
  for (const auto& input : graph.input()) {
    names.add(input.name());
    body.inputs.push_back(names.of(input.name()));
  }
  for (const auto& tensor : graph.initializer()) {
    names.add(tensor.name());
    proto::NodeProto& constant = body.nodes.emplace_back();
    constant.set_op_type("Constant");
    constant.add_output(names.of(tensor.name()));
    auto& value = *constant.add_attribute();
    value.set_name("value");
    value.set_type(proto::AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
  }
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.output()) names.add(name);
  }
  for (const auto& node : graph.node()) names.apply(body.nodes.emplace_back(node));
  for (const auto& output : graph.output()) body.outputs.push_back(names.of(output.name()));
  return body;
}

}  // namespace hios::onnx
