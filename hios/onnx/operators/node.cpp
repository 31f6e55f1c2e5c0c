#include "hios/onnx/operators/node.h"

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
         " must be a constant, and depends on the model's input");
  }
  return integers_of(view);
}

std::vector<float> Node::floats(std::size_t i) const {
  const View& view = input(i);
  if (!view.is_constant()) fail("its input " + std::to_string(i + 1) + " must be a constant");
  return floats_of(view);
}

proto::AttributeProto* Node::find(std::string_view attribute) const {
  for (auto& each : *node_.mutable_attribute()) {
    if (each.name() == attribute) return &each;
  }
  return nullptr;
}

proto::AttributeProto* Node::find(std::string_view attribute,
                                  proto::AttributeProto_AttributeType type) const {
  proto::AttributeProto* found = find(attribute);
  if (found == nullptr) return nullptr;
  if (!found->ref_attr_name().empty()) {
    fail("its attribute " + std::string(attribute) + " belongs to a function, which is not read");
  }
  // Files of old IR versions omit the type.
  if (found->type() != type && found->type() != proto::AttributeProto::UNDEFINED) {
    fail("its attribute " + std::string(attribute) + " is of another type than it should be");
  }
  return found;
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

std::optional<View> Node::tensor(std::string_view attribute) const {
  auto* found = find(attribute, proto::AttributeProto::TENSOR);
  if (!found) return {};
  proto::TensorProto& tensor = *found->mutable_t();
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  View view{file_.take(tensor), dims, dense_strides(dims), 0};
  return view;
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
