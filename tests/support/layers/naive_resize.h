#pragma once

#include "hios/model/layer.h"
#include "support/layers/naive_layers.h"

namespace hios::test {

/// Computes Resize as one matrix per axis: the kernel's weight for each pair of an output and an
/// input pixel, by their distance.
Values naive_resize(const Resize& resize, const Values& in);

}  // namespace hios::test
