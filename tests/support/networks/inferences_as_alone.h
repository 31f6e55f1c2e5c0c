#pragma once

#include <cstddef>
#include <vector>

#include "engine/run/pipeline.h"
#include "mpi/transport.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"

/// Many inferences in flight with fake backends, compared with operators that run alone.
namespace hios::test {

/// Makes a random network of which some outputs are read by operators, too.
RandomNetwork network_with_read_outputs(
    std::size_t operators, std::uint64_t seed,
    Bytes element_bytes = hios::element_bytes(Precision::kFp32));

/// The outputs by input, by operator.
using Expected = std::vector<std::vector<std::vector<std::byte>>>;
Expected inputs_alone(const RandomNetwork& network, std::size_t inputs);

/// Runs inferences through one pipeline on this rank, in runs of several lengths. EXPECTs that
/// every input gave the expected outputs, bit for bit, and that inferences ended in order.
/// Collective. Failures of backends are thrown.
void expect_inferences_as_alone(mpi::Transport& transport, const RandomNetwork& network,
                                const Schedule& schedule, FakeBackend& backend,
                                std::size_t in_flight, const Expected& expected);

}  // namespace hios::test
