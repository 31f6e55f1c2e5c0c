#pragma once

#include <cstddef>

#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"

namespace hios {

/// Returns a cut by height for each operator that can be cut, into so many shards, or as many as
/// its rows allow, as even as they allow, in the operators' order: the cuts among which a search
/// chooses (scheduler/cuts/), and whose shards a profile knows. A 3x3 convolution without strides
/// is cut at multiples of four rows: Winograd's method then gives a shard the bits of the whole.
/// Other shards have equal rows, so that both could be computed in blocks of them, and two or more.
/// `operators`: of coarsen(model). REQUIRES: parts >= 2.
Cuts even_cuts(const Model& model, const CoarseGraph& operators, std::size_t parts);

}  // namespace hios
