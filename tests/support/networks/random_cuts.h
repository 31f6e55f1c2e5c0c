#pragma once

#include <cstdint>

#include "hios/base/numbers/random.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/network.h"
#include "hios/model/model.h"

namespace hios::test {

/// Returns the network of a model with these operators cut.
Network cut_network(const Model& model, const Cuts& cuts);

/// Returns cuts of random operators that can be cut, by rows or channels at random places, of two
/// to four shards.
Cuts random_cuts(const Model& model, Random& random);

/// Returns a model of random layers, most of which can be cut.
Model random_layers(std::size_t layers, Random& random);

/// Runs the network on the reference backend, as random schedules on 1 to 4 ranks with delayed
/// messages, and EXPECTs that each output of the model has the bits that `whole` has.
void expect_cut_ranks_like(const Network& whole, const Network& cut, std::uint64_t seed);

}  // namespace hios::test
