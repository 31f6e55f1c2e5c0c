#pragma once

#include "hios/onnx/draft.h"

/// The passes that simplify a draft. Each leaves a draft that computes the same values. A tensor
/// that is an output or has other consumers stays. The sources are named after the functions
/// (fold_affine.cpp, fold_padding.cpp, recognise_functions.cpp, recognise_normalizations.cpp).
namespace hios::onnx {

/// Removes layers that no output needs.
void drop_unused(Draft& draft);
/// Replaces functions that are written out as products, sums and simpler functions by one layer:
/// SiLU, HardSwish, HardSigmoid, GELU by erf or tanh.
void recognise_functions(Draft& draft);
/// Replaces a written-out (x − mean) / sqrt(variance + epsilon), with the scale and bias after it,
/// by one Normalization.
void recognise_normalizations(Draft& draft);
/// Folds scales and shifts of channels into the convolution before them, else into the one after
/// them (shifts only if that has no padding).
void fold_affine(Draft& draft);
/// Folds a Pad around images into the convolutions and pools after it.
void fold_padding(Draft& draft);

/// Runs all passes, in order.
void simplify(Draft& draft);

}  // namespace hios::onnx
