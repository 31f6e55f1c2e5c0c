#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/base/json/options.h"
#include "scheduler/cold/shared/plan_server.h"

/// The inputs of a plan for several models that share a server: --models A,B.
namespace hios::cli {

/// Declares --models --shares --keep.
boost::program_options::options_description server_flags();

/// A model of the server.
struct ServedInputs {
  Flags flags;                             ///< as if it was given alone
  std::unique_ptr<ScheduleInputs> inputs;  ///< made by these
  double share = 0;                        ///< as the user gave it
};

/// Everything that the flags say about a server.
struct ServerInputs {
  std::vector<ServedInputs> models;
  Bytes keep_bytes = 0;
  Options options;  ///< of the search: those of server_options()
};

/// Reads the flags and all models. Throws InputError where a flag is missing or does not fit, and
/// where models, shares and names of files do not belong together.
ServerInputs read_server(const Flags& flags, const Common& common);

/// Returns the file of a model's schedule; nothing without --output. REQUIRES: read_server().
std::optional<std::string> schedule_file_of(const Flags& flags, const std::string& model);

/// Returns the options as the library takes them.
scheduler::cold::ServerOptions server_options(const Options& options);

}  // namespace hios::cli
