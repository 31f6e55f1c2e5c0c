#pragma once

#include <string>
#include <utility>
#include <vector>

/// Programs as their users run them.
namespace hios::test {

struct ProcessOptions {
  /// After this all that was started is killed. It only keeps a hang from blocking the tests.
  double limit_s = 240;
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to this process's
  std::string directory = {};                                         ///< empty: this process's
  std::vector<std::string> before = {};  ///< words put before the command, mpirun included
  bool all_end = false;  ///< waits a few seconds for the end of all that was started
};

struct ProcessResult {
  int exit_status = 0;  ///< 128 + n after signal n
  bool timed_out = false;
  std::size_t children_at_limit = 0;  ///< if timed out: its living children at that moment
  std::size_t left = 0;  ///< if all_end: processes that had not ended after some seconds; killed
  std::string out, err;
  double wall_s = 0;
  std::size_t max_resident_bytes = 0;  ///< of the process itself, not of its children
};

/// Runs command[0], looked up in PATH, with no standard input, and returns when it has ended and
/// both its outputs are closed. Throws RunError if it cannot be started. What comes of it, in
/// whatever process group or session, has $TEST_RUN_OF, by which it is found at the limit, and an
/// $XDG_STATE_HOME of the tests, unless the options give one.
ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessOptions& options = {});

#ifdef HIOS_MPIEXEC
/// A rank's number, in the words of a shell that it is started by: as Open MPI or MPICH tells it.
inline constexpr const char* kRankInShell = R"("${OMPI_COMM_WORLD_RANK:-$PMI_RANK}")";

/// The variables that switch CMA off, as Open MPI 4, Open MPI 5 and MPICH call it.
inline const std::vector<std::pair<std::string, std::string>> kWithoutCma = {
    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
    {"OMPI_MCA_smsc", "^cma"},
    {"MPIR_CVAR_CH4_CMA_ENABLE", "0"}};

/// Runs a line of a shell, in which mpirun has the settings of run_mpi().
ProcessResult run_shell(const std::string& line, ProcessOptions options = {});

/// Runs the command on `ranks` ranks of this host: unbound, oversubscribed, over loopback.
ProcessResult run_mpi(std::size_t ranks, const std::vector<std::string>& command,
                      ProcessOptions options = {});
#endif

/// The lines of `text` that contain `part`.
std::vector<std::string> lines_with(const std::string& text, const std::string& part);

}  // namespace hios::test
