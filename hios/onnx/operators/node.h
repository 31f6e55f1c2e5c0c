#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hios/onnx/draft.h"
#include "hios/onnx/model_file.h"
#include "hios/onnx/operators/attributes.h"

namespace hios::onnx {

/// A node of the file: its attributes by name, its inputs by index. Every error names the node.
class Node {
 public:
  /// `attributes`: those of the node's operator. `inputs`: null for an optional input that is
  /// absent. Refers to its arguments.
  Node(ModelFile& file, proto::NodeProto& node, const Attributes& attributes, std::int64_t opset,
       std::string name, std::vector<const View*> inputs)
      : file_(file),
        node_(node),
        attributes_(attributes),
        opset_(opset),
        name_(std::move(name)),
        inputs_(std::move(inputs)) {}

  const std::string& type() const { return node_.op_type(); }
  bool is_one_of(std::span<const std::string_view> types) const;
  /// Returns the node's name, made unique: the name of its layer.
  const std::string& name() const { return name_; }
  std::int64_t opset() const { return opset_; }
  bool widens_halves() const { return file_.widens_halves(); }

  std::size_t input_count() const { return inputs_.size(); }
  std::size_t output_count() const { return static_cast<std::size_t>(node_.output_size()); }
  bool wants_output(std::size_t i) const {
    return i < output_count() && !node_.output(static_cast<int>(i)).empty();
  }
  bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input] != nullptr; }
  const View& input(std::size_t i) const;
  /// Returns the node with other inputs, to which it refers.
  Node with_inputs(std::vector<const View*> inputs) const {
    Node other = *this;
    other.inputs_ = std::move(inputs);
    return other;
  }
  // The values of a constant input. Fail for an input that is not constant.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::vector<float> floats(std::size_t input) const;

  /// Fails for an attribute that the operator does not declare, for a value that an unread one may
  /// not have, and for an attribute that is there twice.
  void check_attributes() const;

  // Attributes; `or_else` is the default. Throw std::logic_error if the operator does not declare
  // that it reads the attribute: a defect of the table, whatever the file holds.
  bool has_attribute(std::string_view attribute) const { return find(attribute) != nullptr; }
  std::int64_t integer(std::string_view attribute, std::int64_t or_else) const;
  float number(std::string_view attribute, float or_else) const;
  std::string text(std::string_view attribute, std::string_view or_else) const;
  std::optional<std::vector<std::int64_t>> integer_list(std::string_view attribute) const;
  std::optional<std::vector<float>> number_list(std::string_view attribute) const;
  /// Returns a graph attribute. Fails if there is none.
  const proto::GraphProto& graph(std::string_view attribute) const;
  /// Returns the values and dims of a tensor attribute.
  std::optional<View> tensor(std::string_view attribute) const;
  /// Returns an index; negative ones count from the end. Fails outside the extent.
  std::int64_t index(std::int64_t index, std::int64_t extent) const;
  /// Returns the index of an axis; ONNX counts negative axes from the end. Fails outside the rank.
  std::size_t axis(std::int64_t axis, std::size_t rank) const;

  /// Throws InputError that names file, node and operator.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void check_value(const proto::AttributeProto& attribute, const UnreadAttribute& declared) const;
  void check_type(const proto::AttributeProto& attribute,
                  proto::AttributeProto_AttributeType type) const;
  proto::AttributeProto* find(std::string_view attribute) const;
  proto::AttributeProto* find(std::string_view attribute,
                              proto::AttributeProto_AttributeType type) const;

  ModelFile& file_;
  proto::NodeProto& node_;
  const Attributes& attributes_;
  std::int64_t opset_;
  std::string name_;
  std::vector<const View*> inputs_;
};

}  // namespace hios::onnx
