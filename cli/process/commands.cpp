#include "cli/process/commands.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "hios/base/error.h"

namespace hios::cli {
namespace {

constexpr std::string_view kPlainCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:=+%@^";

/// Returns the name by which the program is started. A folder without it is not that of the
/// programs: another program links this library.
std::string program_word(const Invocation& here, const std::string& program) {
  const std::string file = here.folder + program;
  const bool is_there = here.folder.empty() || access(file.c_str(), X_OK) == 0;
  return shell_word(is_there ? file : program);
}

/// Returns "sbatch --nodes=2 run.sbatch", by the scripts of slurm/; hios-profile is waited for,
/// since another command needs its file.
std::string batch_words(const SlurmJob& job, std::size_t ranks, const std::string& program) {
  const bool measures = program == "hios-profile";
  const std::size_t per_node =
      job.tasks_per_node > 1 && ranks % job.tasks_per_node == 0 ? job.tasks_per_node : 1;
  std::string words = measures ? "sbatch -W" : "sbatch";
  words += " --nodes=" + std::to_string(ranks / per_node);
  if (job.tasks_per_node > 1) words += " --ntasks-per-node=" + std::to_string(per_node);
  return words + " " + shell_word(job.scripts + (measures ? "profile.sbatch" : "run.sbatch"));
}

/// Returns the launcher's words before those of the program. Open MPI counts cores, of which a
/// system's CPUs may be two threads each, and refuses more ranks without --oversubscribe.
std::string launcher_words(const Invocation& here, std::size_t ranks) {
  const std::string count = std::to_string(ranks);
  if (here.slurm) {
    const bool fits = here.slurm->tasks == 0 || ranks <= here.slurm->tasks;
    return (fits ? "" : "salloc --ntasks=" + count + " ") +
           "srun --mpi=pmix --cpu-bind=none --ntasks=" + count + " ";
  }
  if (ranks == 1) return {};
  std::string words = "mpirun -np " + count;
  if (here.mpi != mpi::Library::kOpenMpi) return words + " -bind-to none ";
  words += " --bind-to none";
  if (2 * ranks > here.cores) words += " --oversubscribe";
  if (here.refuses_root) words += " --allow-run-as-root";
  return words + " ";
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kPlainCharacters) == std::string::npos) return word;
  std::string plain, escaped;
  for (const char c : word) {
    plain += c == '\'' ? std::string("'\\''") : std::string(1, c);
    escaped += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  }
  const std::string visible = printable(escaped, escaped.size());
  return visible == escaped ? "'" + plain + "'" : "$'" + visible + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string start_command(const Invocation& here, std::size_t ranks, const std::string& program,
                          const std::string& arguments) {
  if (program == "hios-schedule") return program_word(here, program) + " " + arguments;
  if (here.slurm && here.slurm->script_arguments)
    return batch_words(*here.slurm, ranks, program) + " " + arguments;
  return launcher_words(here, ranks) + program_word(here, program) + " " + arguments;
}

std::string start_again_command(const Invocation& here, std::size_t ranks) {
  if (here.words.empty()) return start_command(here, ranks, "hios-run", "...");
  const std::string program = std::filesystem::path(here.words.front()).filename();
  const auto& script_arguments = here.slurm ? here.slurm->script_arguments : std::nullopt;
  return start_command(here, ranks, program,
                       script_arguments ? *script_arguments
                                        : shell_words({here.words.begin() + 1, here.words.end()}));
}

std::string build_command(const std::string& preset, const std::string& settings) {
  return "cmake --preset " + preset + (settings.empty() ? "" : " ") + settings +
         " && cmake --build --preset " + preset;
}

}  // namespace hios::cli
