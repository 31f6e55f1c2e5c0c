#pragma once

#include "hios/onnx/operators/registry.h"

/// The importer's own arithmetic on constants (Operator::fold): extents, integers, truth values,
/// and tables of any type. Floating-point values are computed by the kernels of layers (compute.h).
/// Operators that only rearrange values need no folding: on constants, too, they return views.
namespace hios::onnx {

/// Adds all of the families below. Comes after the rows that add layers.
void add_folding(Operators& operators);

/// Constant, Shape, Size, ConstantOfShape, Range (extents.cpp).
void add_extents(Operators& operators);
/// Functions of integers and truth values, comparisons, Cast, Where (numbers.cpp).
void add_numbers(Operators& operators);
/// Reductions, sums and products of integers along axes (sums.cpp).
void add_sums(Operators& operators);
/// Concat, ScatterElements, ScatterND, Trilu, NonZero: values of any type (tables.cpp).
void add_tables(Operators& operators);
/// DequantizeLinear of constants (quantized.cpp).
void add_quantized(Operators& operators);

}  // namespace hios::onnx
