#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "engine/job/ranks/ranks.h"
#include "engine/job/ranks/watch.h"
#include "engine/measure/protocol.h"
#include "mpi/routes/route.h"

/// The flags of hios-profile and hios-run about the devices of ranks and about measuring.
namespace hios::cli {

/// Returns the example of a command on two ranks; in a build without MPI, on one.
Example two_rank_example(const std::string& command, const std::string& result);

/// Returns the words that --backend takes.
std::vector<std::string> backend_names();

/// Declares --backend --threads --oversubscribe --warmup --warmup-seconds --iterations --duration
/// --timeout --list-devices.
boost::program_options::options_description rank_flags();

/// Declares --transport --math --cuda-graphs --devices-per-node --allow-nondeterministic
/// --without-algorithms.
boost::program_options::options_description device_flags();

/// Throws InputError where the process may have less address space than a rank needs without MPI,
/// which takes more (mpi/session/session.h).
void require_address_space();

/// Parses the command line on every rank, and answers --help and --version. Throws InputError where
/// ranks have other arguments or another build. Returns false if the program is done.
bool parse_on_all_ranks(Flags& flags, int argc, char** argv, mpi::Transport& transport);

/// Reads standard input on rank 0, to which launchers forward theirs, and gives its text to all
/// ranks, where a flag names it. It may take as long as the program before in the pipe does.
/// Collective.
void share_standard_input(const Flags& flags, job::Watch& watch);

/// Reads the flags of ranks' devices. Throws InputError: a bad value, an unknown backend, or a flag
/// that no rank's backend uses.
job::RankOptions read_rank_options(const Flags& flags, std::size_t ranks);

/// Reads --transport; null: the first route of the table that works.
const mpi::Route* read_route(const Flags& flags);
/// Reads --math; nothing: the schedule's, or fp32.
std::optional<Precision> read_math(const Flags& flags);
/// Reads the flags of measuring. `on_gpu`: a rank computes on a GPU, whose default warm-up is
/// longer.
Protocol read_protocol(const Flags& flags, bool on_gpu);
/// Returns true if a rank computes on a GPU. REQUIRES: read_rank_options() made the options for
/// this number of ranks.
bool computes_on_gpu(const job::RankOptions& options, std::size_t ranks);
/// Returns a flag's value before the command line is parsed, since MPI itself starts before and may
/// fail. Returns nothing where the flag is not given.
std::optional<std::string_view> early_text(int argc, const char* const* argv,
                                           std::string_view flag);
/// Returns the value of --timeout likewise; nothing where it is no number.
std::optional<double> early_timeout_s(int argc, const char* const* argv);

/// Reads --timeout, in seconds.
double read_timeout(const Flags& flags);

/// Restarts the program with the OpenMP settings that the cpu backend recommends, where they are
/// not set: libgomp reads them before main.
void ensure_openmp_environment(char** argv);

}  // namespace hios::cli
