// The words of a job that is refused: one line of ours, and of the launcher's no more than it
// insists on (docs/reliability.md).
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

#ifdef HIOS_MPIEXEC

/// The words of Open MPI 4 for any job whose status is not 0.
const std::regex kInsisted(
    "-+|Primary job  terminated normally, but 1 process returned|a non-zero exit code\\. Per "
    "user-direction, the job has been aborted\\.|mpi(run|exec) detected that one or more processes "
    "exited "
    "with non-zero status, thus causing|the job to be terminated\\. The first process to do so "
    "was:|  Process name: .*|  Exit code:    2|");

bool is_open_mpi_4() {
  const auto said = run_process({HIOS_MPIEXEC, "--version"});
  return said.out.find("Open MPI) 4.") != std::string::npos ||
         said.out.find("OpenRTE) 4.") != std::string::npos;
}

ProcessResult refused_job(const Words& launcher_flags) {
  return run_mpi(2, launcher_flags + Words{HIOS_BIN_DIR "/hios-run", "squeezenet"});
}

TEST(WordsUnderMpirun, AreOneLineOfOursAndThoseOnWhichItInsists) {
  const ProcessResult done = refused_job({});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_EQ(lines_with(done.err, "error: ").size(), 1u) << done.err;
  EXPECT_EQ(done.err.find("error: "), 0u) << done.err;
  if (!is_open_mpi_4()) return;  // others say less, or more
  for (const std::string& line : lines_with(done.err, "")) {
    if (line.starts_with("error: ")) continue;
    EXPECT_TRUE(std::regex_match(line, kInsisted)) << line;
  }
  const ProcessResult quiet = refused_job({"-q"});
  EXPECT_EQ(quiet.exit_status, 2);
  EXPECT_EQ(lines_with(quiet.err, "").size(), 1u) << quiet.err;
  EXPECT_EQ(quiet.err.find("error: --schedule FILE is needed"), 0u) << quiet.err;
}

#endif  // HIOS_MPIEXEC

}  // namespace
}  // namespace hios::test
