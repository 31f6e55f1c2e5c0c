#pragma once

#include "hios/onnx/operators/registry.h"

/// Integers of 8 and 16 bits, whose results wrap: ONNX computes them modulo 2^8 and 2^16. All
/// other integers are whole numbers of any size (docs/onnx.md).
namespace hios::onnx {

/// Returns the element type of integers of 8 or 16 bits; 0 for all other values.
int narrow_element(const View& view);

/// Returns the element type of a node's output if it is of integers of 8 or 16 bits; else 0.
int narrow_element(const Node& node, std::size_t output);

/// Fails for an operator whose results on such integers are not computed: sums and products of
/// many, which ONNX allows for wider integers only, and products of 16 bits.
void check_narrow_integers(const Node& node);

/// Returns a node's output as the integers that such an element type holds, by the value modulo
/// 2^8 or 2^16; the same view where no result of the operator can be beyond them.
View wrapped(LayerEmitter& emitter, const Node& node, const View& output, int element);
/// Does the same with a constant that the node computed. It keeps the element type.
View wrapped(const Node& node, const View& output, int element);

}  // namespace hios::onnx
