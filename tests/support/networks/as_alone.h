#pragma once

#include <cstdint>
#include <vector>

#include "engine/run/executor.h"
#include "engine/run/plan/plan.h"
#include "mpi/transport.h"
#include "support/networks/random_network.h"

/// Schedules run by the executor with fake backends, compared with operators that run alone.
namespace hios::test {

/// Returns every operator's output, computed on one rank, one operator at a time, by OpId.
std::vector<std::vector<std::byte>> computed_alone(const RandomNetwork& network);

/// EXPECTs the outputs after an iteration (with keep_all: every operator's; else those that no
/// operator reads) to be `expected`, bit for bit.
void expect_outputs(const Executor& executor, const RankPlan& plan, const RandomNetwork& network,
                    const PlanOptions& options, const std::vector<std::vector<std::byte>>& expected,
                    int iteration);

/// Runs this rank's stages of a valid schedule three times and EXPECTs the outputs of each run.
/// Collective. `seed`: for the order in which groups run.
void expect_as_alone(mpi::Transport& transport, const RandomNetwork& network,
                     const Schedule& schedule, const PlanOptions& options, std::uint64_t seed,
                     const std::vector<std::vector<std::byte>>& expected);

}  // namespace hios::test
