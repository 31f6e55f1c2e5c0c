#pragma once

#include <cstdint>
#include <span>

#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"

namespace hios {

/// Returns a cut by height for each operator that can be cut into a shard for each of `shares`, or
/// where these are equal into as many as rows allow, with rows in proportion to them, as far as
/// rows allow, in the operators' order: the cuts among which a search chooses (scheduler/cuts/),
/// and whose shards a profile knows. A 3x3 convolution without strides is cut at multiples of four
/// rows: Winograd's method then gives a shard the bits of the whole. Other shards with equal shares
/// have equal rows, so that both could be computed in blocks of them. A shard has two rows or more.
/// `operators`: of coarsen(model). REQUIRES: two shares or more, each positive.
Cuts even_cuts(const Model& model, const CoarseGraph& operators,
               std::span<const std::int64_t> shares);

}  // namespace hios
