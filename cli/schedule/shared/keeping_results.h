#pragma once

#include <optional>
#include <string>

#include "cli/flags/flags.h"
#include "cli/schedule/shared/server_inputs.h"
#include "scheduler/cold/shared/plan_server.h"

/// The results of a plan for several models that share a server: a table for people, and files of
/// the format `hios-keeping` (docs/formats.md).
namespace hios::cli {

/// Returns the gap to the bound of every keeping as a ratio; nothing where no bound is known.
std::optional<double> keeping_gap(double expected_ms, double bound_ms);

/// Returns the table and its remarks.
std::string keeping_text(const scheduler::cold::Server& server,
                         const scheduler::cold::ServerResult& result);

/// Returns the same for scripts, a row for each keeping and model.
std::string keeping_csv(const scheduler::cold::Server& server,
                        const scheduler::cold::ServerResult& result);

/// Returns the file. `seconds`: the planner's time.
Json keeping_json(const Flags& flags, const Common& common, const ServerInputs& inputs,
                  const scheduler::cold::Server& server,
                  const scheduler::cold::ServerResult& result, double seconds);

}  // namespace hios::cli
