#pragma once

#include <string>
#include <vector>

#include "cli/process/invocation.h"
#include "engine/job/ranks/surroundings.h"
#include "hios/base/error.h"
#include "hios/base/need.h"

/// Libraries state errors and needs as facts (hios/base/need.h); only the programs know flags and
/// commands. This file words each need with them.
namespace hios::cli {

/// Returns an error's text and, where it has a need, its remedy: one line. `model_flags` name the
/// model and its size in commands ("--model squeezenet --height 48"); without them a command names
/// the model alone.
std::string error_line(const Error& error, const std::string& model_flags = {});
/// Returns the same for a program that was started so.
std::string error_line(const Error& error, const std::string& model_flags, const Invocation& here);

/// Returns the hios-profile command that measures a platform's devices, and adds the times to the
/// need's profile.
std::string measurement_command(const need::Measurement& need, const std::string& model_flags,
                                const Invocation& here);

/// Warns of a profile whose times had not settled, by unsettled_text(), once in the process; prints
/// nothing where that is empty.
void warn_of_unsettled(const std::string& unsettled);

/// Warns of a profile that was measured elsewhere, by measured_elsewhere(), -q or not, once in the
/// process; prints nothing where that is empty.
void warn_of_elsewhere(const std::string& differences);

/// Warns of surroundings that spoil a job's times, a line each with its remedy.
void warn_of(const std::vector<job::HostWarning>& warnings);

/// Runs a step; an InputError that it throws leaves with its remedy in its text, for the model of
/// these flags.
template <class Step>
auto with_remedies(const std::string& model_flags, Step&& step) {
  try {
    return step();
  } catch (const InputError& error) {
    throw InputError(error_line(error, model_flags));
  }
}

}  // namespace hios::cli
