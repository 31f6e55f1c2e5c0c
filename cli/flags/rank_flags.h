#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "engine/job/ranks/ranks.h"
#include "engine/measure/protocol.h"
#include "mpi/routes/route.h"

/// The flags of hios-profile and hios-run: what ranks compute with, and how they measure.
namespace hios::cli {

/// --backend --threads --oversubscribe --warmup --warmup-seconds --iterations --duration --timeout
/// --list-devices.
boost::program_options::options_description rank_flags();

/// --transport --math --cuda-graphs --devices-per-node --allow-nondeterministic.
boost::program_options::options_description device_flags();

/// Throws InputError where the process may have fewer addresses than a rank needs: libraries that
/// are refused memory while they start end a process by a signal.
void require_address_space();

/// Parses the command line on every rank, answers --help and --version, and makes sure that all
/// ranks have the same arguments and the same build. Returns false if that was all.
bool parse_on_all_ranks(Flags& flags, int argc, char** argv, mpi::Transport& transport);

/// Throws InputError: a value that is none, a backend that is none, or a flag that means nothing to
/// any of the backends.
job::RankOptions read_rank_options(const Flags& flags, std::size_t ranks);

/// --transport: null for the best that works.
const mpi::Route* read_route(const Flags& flags);
/// --math; none: the schedule's, or fp32.
std::optional<Precision> read_math(const Flags& flags);
/// `on_gpu`: whether some rank computes on one, which is what the default warm-up depends on.
Protocol read_protocol(const Flags& flags, bool on_gpu);
/// REQUIRES: read_rank_options() made the options for so many ranks.
bool computes_on_gpu(const job::RankOptions& options, std::size_t ranks);
/// A flag's value before the command line is parsed: MPI itself starts before, and what goes wrong
/// then is as bad. Nothing where the flag is not given.
std::optional<std::string_view> early_text(int argc, const char* const* argv,
                                           std::string_view flag);
/// The same of --timeout; nothing where it is no number.
std::optional<double> early_timeout_s(int argc, const char* const* argv);

/// --timeout, in seconds.
double read_timeout(const Flags& flags);

/// Makes sure that this process runs with the OpenMP settings that the cpu backend wants: libgomp
/// reads them before main, so the program starts itself again with them where they are not set.
void ensure_openmp_environment(char** argv);

}  // namespace hios::cli
