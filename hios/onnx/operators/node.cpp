#include "hios/onnx/operators/node.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "hios/base/error.h"

namespace hios::onnx {

const View& Node::input(std::size_t i) const {
  if (!has(i)) fail("lacks its input " + std::to_string(i + 1));
  return *inputs_[i];
}

std::vector<std::int64_t> Node::integers(std::size_t i) const {
  const View& view = input(i);
  if (!view.is_constant()) {
    fail("its input " + std::to_string(i + 1) +
         " must be a constant, and depends on the model's input" + kSimplify);
  }
  return integers_of(view);
}

std::vector<float> Node::floats(std::size_t i) const {
  const View& view = input(i);
  if (!view.is_constant())
    fail("its input " + std::to_string(i + 1) + " must be a constant" + kSimplify);
  return floats_of(view);
}

void Node::check_attributes() const {
  std::set<std::string_view> names;
  for (const auto& attribute : node_.attribute()) {
    const std::string& name = attribute.name();
    if (!names.insert(name).second) fail("its attribute '" + printable(name) + "' is there twice");
    if (attributes_.reads(name) || is_annotation(name)) continue;
    const UnreadAttribute* declared = attributes_.find_unread(name);
    if (declared == nullptr) fail("its attribute '" + printable(name) + "' is not read");
    check_value(attribute, *declared);
  }
}

void Node::check_value(const proto::AttributeProto& attribute,
                       const UnreadAttribute& declared) const {
  if (declared.values.empty()) return;
  check_type(attribute, proto::AttributeProto::INT);
  if (std::ranges::find(declared.values, attribute.i()) != declared.values.end()) return;
  std::string values;
  for (const std::int64_t value : declared.values) {
    values += (values.empty() ? "" : " or ") + std::to_string(value);
  }
  fail("its attribute '" + attribute.name() + "' is read as " + values + " only, and is " +
       std::to_string(attribute.i()));
}

void Node::check_type(const proto::AttributeProto& attribute,
                      proto::AttributeProto_AttributeType type) const {
  if (!attribute.ref_attr_name().empty()) {
    fail("its attribute " + attribute.name() + " belongs to a function, which is not read");
  }
  // Files of old IR versions omit the type.
  if (attribute.type() != type && attribute.type() != proto::AttributeProto::UNDEFINED) {
    fail("its attribute " + attribute.name() + " is of another type than it should be");
  }
}

proto::AttributeProto* Node::find(std::string_view attribute) const {
  if (!attributes_.reads(attribute)) {
    throw std::logic_error(type() + ": its handler reads the attribute " + std::string(attribute) +
                           ", which its row does not declare");
  }
  for (auto& each : *node_.mutable_attribute()) {
    if (each.name() == attribute) return &each;
  }
  return nullptr;
}

proto::AttributeProto* Node::find(std::string_view attribute,
                                  proto::AttributeProto_AttributeType type) const {
  proto::AttributeProto* found = find(attribute);
  if (found != nullptr) check_type(*found, type);
  return found;
}

bool Node::is_one_of(std::span<const std::string_view> types) const {
  return std::find(types.begin(), types.end(), std::string_view(type())) != types.end();
}

std::int64_t Node::integer(std::string_view attribute, std::int64_t or_else) const {
  const auto* found = find(attribute, proto::AttributeProto::INT);
  return found ? found->i() : or_else;
}

float Node::number(std::string_view attribute, float or_else) const {
  const auto* found = find(attribute, proto::AttributeProto::FLOAT);
  return found ? found->f() : or_else;
}

std::string Node::text(std::string_view attribute, std::string_view or_else) const {
  const auto* found = find(attribute, proto::AttributeProto::STRING);
  return found ? found->s() : std::string(or_else);
}

std::optional<std::vector<std::int64_t>> Node::integer_list(std::string_view attribute) const {
  const auto* found = find(attribute, proto::AttributeProto::INTS);
  if (!found) return {};
  return std::vector<std::int64_t>(found->ints().begin(), found->ints().end());
}

std::optional<std::vector<float>> Node::number_list(std::string_view attribute) const {
  const auto* found = find(attribute, proto::AttributeProto::FLOATS);
  if (!found) return {};
  return std::vector<float>(found->floats().begin(), found->floats().end());
}

const proto::GraphProto& Node::graph(std::string_view attribute) const {
  const auto* found = find(attribute, proto::AttributeProto::GRAPH);
  if (!found) fail("lacks its " + std::string(attribute));
  return found->g();
}

std::optional<View> Node::tensor(std::string_view attribute) const {
  auto* found = find(attribute, proto::AttributeProto::TENSOR);
  if (!found) return {};
  proto::TensorProto& tensor = *found->mutable_t();
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  // Messages name the value that other nodes read.
  if (tensor.name().empty() && output_count() > 0) tensor.set_name(node_.output(0));
  View view{file_.take(tensor), dims, dense_strides(dims), 0};
  return view;
}

std::int64_t Node::index(std::int64_t index, std::int64_t extent) const {
  if (index < -extent || index >= extent) {
    fail("has an index out of range: " + std::to_string(index) + " among " +
         std::to_string(extent) + " elements");
  }
  return index < 0 ? index + extent : index;
}

std::size_t Node::axis(std::int64_t axis, std::size_t rank) const {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) {
    fail("has no axis " + std::to_string(axis) + " among " + std::to_string(rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

void Node::fail(const std::string& message) const {
  file_.fail("node '" + printable(name_) + "' (" + printable(type()) + "): " + message);
}

}  // namespace hios::onnx
