#pragma once

#include <span>
#include <string>

#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"

namespace hios {

/// Returns the model with its operators cut into shards. A shard is made of ordinary layers on some
/// rows or channels, with the parameters of the whole (Layer::origin, Layer::range). A range that
/// it reads of other operators is taken from one shard that has all of it, or joined of several:
/// the rows that neighbours exchange. Every tensor of the whole model that a layer or an output
/// reads whole is there under its own name, with the values that it has in the whole model; but a
/// concatenation of channels reads the shards themselves.
///
/// Operators of the result have the names of their main layers: "conv1 [0, 74)" for a shard. A
/// shard's signature ends in a mark of its whole operator: shards of two operators may be alike,
/// and compute by different algorithms, each by that of its whole. `operators`: of coarsen(model),
/// for the names in `cuts`. Throws InputError that names the place of the cut and the operator:
/// unknown, a range outside its output, or a layer that cannot be cut, with the reason.
Model shard(const Model& model, const CoarseGraph& operators, const Cuts& cuts);

}  // namespace hios
