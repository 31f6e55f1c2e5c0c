#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/network.h"
#include "hios/model/model.h"
#include "mpi/transport.h"

namespace hios::test {

/// Returns the network of a model with these operators cut.
Network cut_network(const Model& model, const Cuts& cuts);

/// Returns cuts of random operators that can be cut, by rows or channels at random places, of two
/// to four shards.
Cuts random_cuts(const Model& model, Random& random);

/// Returns a model of random layers, most of which can be cut.
Model random_layers(std::size_t layers, Random& random);

/// The outputs of a model, by name.
using NamedOutputs = std::map<std::string, std::vector<float>>;

/// Returns the outputs that one rank computes, operator by operator, on the reference backend.
NamedOutputs outputs_alone(const Network& whole);

/// Runs the network twice on the reference backend, as a random schedule on all ranks, and EXPECTs
/// that each output of the model has these bits. Collective.
void expect_outputs(const NamedOutputs& expected, const Network& cut, std::uint64_t seed,
                    mpi::Transport& transport);

/// Does this on 1 to 4 threads as ranks, with delayed messages, and EXPECTs the bits of `whole`.
void expect_cut_ranks_like(const Network& whole, const Network& cut, std::uint64_t seed);

}  // namespace hios::test
