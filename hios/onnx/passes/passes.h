#pragma once

#include "hios/onnx/draft.h"

/// What becomes of the layers after they are read: each pass is one idea, and leaves a draft that
/// computes the same. What others read too, or what is an output, stays.
namespace hios::onnx {

/// Takes out layers that no output needs.
void drop_unused(Draft& draft);
/// Functions that are written out as products, sums and simpler functions become one layer: SiLU,
/// HardSwish, HardSigmoid, GELU by erf or tanh.
void recognise_functions(Draft& draft);
/// (x − mean) / sqrt(variance + epsilon) that is written out becomes one layer, and the scale and
/// bias behind it part of it.
void recognise_normalizations(Draft& draft);
/// Scales and shifts of channels go into the convolution in front of them, else into the one behind
/// (shifts only if it has no padding).
void fold_affine(Draft& draft);
/// What is added around an image goes into the convolutions and pools behind it.
void fold_padding(Draft& draft);

/// All of them, in order.
void simplify(Draft& draft);

}  // namespace hios::onnx
