#pragma once

#include "hios/model/model.h"

namespace hios {

/// Checks that every layer computes each of the model's inputs (the batch, a tensor's first extent)
/// independently, so that some of them can run without the others. Throws an InputError that names
/// the first layer that does not: one that normalizes, reduces, joins or moves values across
/// inputs, or whose tensors have another first extent.
void require_separate_inputs(const Model& model);

}  // namespace hios
