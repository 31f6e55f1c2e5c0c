#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/job/ranks/surroundings.h"
#include "hios/base/error.h"

/// Libraries say what is wrong and what is needed, as facts (hios/base/error.h); the programs alone
/// know flags and commands. Here is the table from the one to the other.
namespace hios::cli {

/// What an error says and, where it has a Need, what to do about it: one line. `model_flags` name
/// the model and its size where a command must ("--model squeezenet --height 48"); without them a
/// model is called by its name.
std::string error_line(const Error& error, const std::string& model_flags = {});

/// Whether the table has words for needs of this kind.
bool has_remedy(std::string_view kind);

/// Warns of a profile whose times had not settled, by unsettled_text(); nothing to say where that
/// is empty.
void warn_of_unsettled(const std::string& unsettled);

/// Warns of what spoils a job's times, a line each with its remedy.
void warn_of_troubles(const std::vector<job::Trouble>& troubles);

/// Runs a step; the InputError that it throws leaves with its remedy in words, for a model of these
/// flags.
template <class Step>
auto with_remedies(const std::string& model_flags, Step&& step) {
  try {
    return step();
  } catch (const InputError& error) {
    throw InputError(error_line(error, model_flags));
  }
}

}  // namespace hios::cli
