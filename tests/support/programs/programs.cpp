#include "support/programs/programs.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"

namespace hios::test {

void TestFolder::write(const std::string& name, const std::string& text) const {
  write_text(folder_ / name, text, Existing::kReplace);
}

std::vector<std::string> TestFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

/// Where the programs are: in the build, unless the tests were moved away from it
/// (scripts/pack-gpu.sh) and HIOS_BIN_DIR says where to.
std::string program(const char* name) {
  const char* moved = std::getenv("HIOS_BIN_DIR");
  return std::string(moved ? moved : HIOS_BIN_DIR) + "/" + name;
}

ProcessResult on_ranks(std::size_t ranks, Words command, const ProcessOptions& options) {
  command.push_back("--oversubscribe");
#ifdef HIOS_MPIEXEC
  if (ranks > 1) return run_mpi(ranks, command, options);
#endif
  if (ranks != 1) throw RunError("this build has no MPI");
  return run_process(command, options);
}

}  // namespace

ProcessResult hios_schedule(const Words& flags) {
  return run_process(Words{program("hios-schedule")} + flags);
}

ProcessResult hios_profile(std::size_t ranks, Words flags, ProcessOptions options) {
  return on_ranks(ranks, Words{program("hios-profile")} + flags, options);
}

ProcessResult hios_run(std::size_t ranks, Words flags, ProcessOptions options) {
  return on_ranks(ranks, Words{program("hios-run")} + flags, options);
}

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Json read(const std::string& file) { return read_json(file); }

}  // namespace hios::test
