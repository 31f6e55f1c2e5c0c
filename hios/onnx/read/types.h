#pragma once

#include <optional>
#include <vector>

#include "hios/onnx/operators/registry.h"

/// The types of computed tensors. All of their values are floating-point numbers; the type that the
/// file gives them decides what an operator does with them, and what ONNX forbids.
namespace hios::onnx {

/// Fails where ONNX does not let the node's operator take inputs of these types, at least one of
/// which is computed: truth values where numbers are needed, numbers of two types together.
void check_input_types(const Node& node);

/// Fails where indices, extents, axes or the like are no integers, computed or constant.
void check_integers(const Node& node);

/// Returns true for an output that says where values were found, whatever type they have: TopK's and
/// MaxPool's second one.
bool finds_positions(const Node& node, std::size_t output);

/// Returns the type of a node's output that is computed.
Constant::Type output_type(const Node& node, std::size_t output);

/// Returns constants that kernels computed as the types that the node's outputs have.
Views with_types(const Node& node, Views outputs);

/// Returns the node's inputs with integer constants as floating-point numbers, for a node with a
/// computed integer. Empty where no input changes.
std::optional<std::vector<View>> with_numbers(const Node& node);

}  // namespace hios::onnx
