#pragma once

#include <optional>

#include "cli/flags/flags.h"
#include "hios/base/json/json.h"

/// The hidden flag --describe-flags, from which manual pages and completion are made.
namespace hios::cli {

/// Returns the program's text and its flags: {"program", "purpose", "usage", "examples", "note",
/// "version", "commit", "date", "flags": [{"name", "letter", "group", "argument", "optional",
/// "default", "text", "daily", "repeatable", "file", "values"}]}.
Json description(const Flags& flags);

/// Returns true if a command line holds --describe-flags: the program prints its description, and
/// does nothing else.
bool asks_for_description(int argc, const char* const* argv);

/// Prints the description. Returns the exit status.
int describe(const Flags& flags);

}  // namespace hios::cli
