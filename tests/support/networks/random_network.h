#pragma once

#include <cstdint>
#include <string>

#include "hios/graph/fusion/coarsen.h"
#include "hios/schedule/schedule.h"

namespace hios::test {

/// Makes a network of operators of random sizes with random inputs, some of them twice, some the
/// model's own; several outputs. It is not made by `coarsen`, which the engine's tests do not need.
struct RandomNetwork {
  Model model;
  CoarseGraph coarse;
};
RandomNetwork random_network(std::size_t operators, std::uint64_t seed,
                             Bytes element_bytes = hios::element_bytes(Precision::kFp32));

/// Returns the network with a graph that counts the bytes of parameters, each of which can be read
/// in place.
RandomNetwork with_parameters(RandomNetwork network);

/// Makes a random valid schedule: any assignment to devices, stages of up to `max_groups` groups of
/// up to three operators. Every valid schedule of that size can result.
Schedule random_schedule(const Graph& graph, std::size_t devices, std::size_t max_groups,
                         std::uint64_t seed);

/// Makes such a schedule of a built-in model as a file's text, on devices of one core and one
/// stream.
std::string random_schedule_text(const Model& model, std::size_t devices, std::uint64_t seed);

}  // namespace hios::test
