#pragma once

#include <cstdint>
#include <vector>

#include "engine/run/plan.h"
#include "mpi/transport.h"
#include "support/random_network.h"

/// Schedules run by the executor with fake backends, judged by what operators compute alone.
namespace hios::test {

/// Every operator's output as one rank computes it, one operator at a time, by OpId.
std::vector<std::vector<std::byte>> computed_alone(const RandomNetwork& network);

/// Runs this rank's part of a valid schedule three times and EXPECTs what is left at the end of
/// each (with keep_all: every operator's output) to be `expected`, bit for bit. Collective.
/// `seed`: of the order in which groups run.
void expect_as_alone(mpi::Transport& transport, const RandomNetwork& network,
                     const Schedule& schedule, const PlanOptions& options, std::uint64_t seed,
                     const std::vector<std::vector<std::byte>>& expected);

}  // namespace hios::test
