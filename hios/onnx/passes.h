#pragma once

#include "hios/onnx/draft.h"

/// What becomes of the layers after they are read: each pass is one idea, and leaves a draft that
/// computes the same.
namespace hios::onnx {

/// Takes out layers that no output needs.
void drop_unused(Draft& draft);
/// The scale and shift of channels go into the convolution in front of them, if nobody else reads
/// that.
void fold_affine(Draft& draft);
/// Zeros around an image go into the convolution behind them.
void fold_padding(Draft& draft);
/// x·sigmoid(x) and x·hardsigmoid(x) become one layer.
void recognise_functions(Draft& draft);

/// All of them, in order.
void simplify(Draft& draft);

}  // namespace hios::onnx
