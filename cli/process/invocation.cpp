#include "cli/process/invocation.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "engine/host/cores.h"

namespace hios::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string>& noted_words() {
  static std::vector<std::string> words;
  return words;
}

std::string environment_text(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

std::size_t number_in(const char* name, std::size_t otherwise) {
  const std::string text = environment_text(name);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? number : otherwise;
}

/// Returns the first file of this name in a folder of PATH, as a shell finds it.
fs::path found_in_path(const std::string& name) {
  const std::string path = environment_text("PATH");
  for (std::string_view folders = path; !folders.empty();) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const fs::path file = fs::path(folders.substr(0, colon)) / name;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Returns the folder by which the program was named, unless PATH has the same program.
std::string folder_of_programs(const std::string& program) {
  const std::size_t slash = program.rfind('/');
  if (slash == std::string::npos) return {};
  std::error_code error;
  const fs::path in_path = found_in_path(program.substr(slash + 1));
  if (!in_path.empty() && fs::equivalent(in_path, program, error) && !error) return {};
  return program.substr(0, slash + 1);
}

std::optional<SlurmJob> slurm_job() {
  if (environment_text("SLURM_JOB_ID").empty()) return {};
  SlurmJob job{.tasks = number_in("SLURM_NTASKS", 0),
               .tasks_per_node = number_in("SLURM_NTASKS_PER_NODE", 1)};
  if (const char* const arguments = std::getenv("HIOS_BATCH_ARGUMENTS"))
    job.script_arguments = arguments;
  const std::string scripts = environment_text("HIOS_SCRIPTS");
  if (scripts != environment_text("SLURM_SUBMIT_DIR") && !scripts.empty())
    job.scripts = scripts + "/";
  return job;
}

}  // namespace

std::optional<std::string> Invocation::value_of(const std::string& flag) const {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--" + flag && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with("--" + flag + "=")) return words[i].substr(flag.size() + 3);
  }
  return {};
}

void note_invocation(int argc, const char* const* argv) { noted_words().assign(argv, argv + argc); }

Invocation invocation() {
  Invocation facts;
  facts.words = noted_words();
  if (!facts.words.empty()) facts.folder = folder_of_programs(facts.words.front());
  facts.mpi = mpi::library();
  facts.cores = allowed_cores().size();
  facts.refuses_root =
      geteuid() == 0 && (environment_text("OMPI_ALLOW_RUN_AS_ROOT") != "1" ||
                         environment_text("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != "1");
  facts.slurm = slurm_job();
  return facts;
}

}  // namespace hios::cli
