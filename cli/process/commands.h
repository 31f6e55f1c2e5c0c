#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/process/invocation.h"

/// Commands in messages. They run when they are pasted into the shell that started this program: by
/// its path, unless it is in PATH, with the launcher of this build's MPI, which must not bind
/// ranks, and in a job of Slurm by its means. A command is the end of its message, after "with: ".
namespace hios::cli {

/// Returns the word as a shell reads it: in quotes where it has other characters than those that a
/// shell leaves alone. Invisible characters are escaped as bash reads them, in $'…'.
std::string shell_word(const std::string& word);
std::string shell_words(const std::vector<std::string>& words);  ///< separated by blanks

/// Returns the command that starts hios-profile, hios-schedule or hios-run (`program`) on so many
/// ranks; its `arguments` are quoted already. One rank needs no launcher.
std::string start_command(const Invocation& here, std::size_t ranks, const std::string& program,
                          const std::string& arguments);

/// Returns the command that starts this program once more, on so many ranks.
std::string start_again_command(const Invocation& here, std::size_t ranks);

/// Returns the commands that build the programs by a preset of CMakePresets.json, in the source
/// folder, with more `settings`: "-DHIOS_ONNX=ON".
std::string build_command(const std::string& preset, const std::string& settings = {});

}  // namespace hios::cli
