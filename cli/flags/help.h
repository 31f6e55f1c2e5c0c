#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/flag_text.h"

/// The text of --help: usage, examples, and the flags of daily use or all of them, by group.
namespace hios::cli {

/// A command line that runs when it is pasted.
struct Example {
  std::string command;
  std::string result;  ///< what it does, in a few words
};

/// A program's text for people, but for its flags.
struct ProgramText {
  std::string program;     ///< "hios-run"
  std::string purpose;     ///< "run a schedule, one rank a device"
  std::string usage = {};  ///< the arguments of a typical command line
  std::vector<Example> examples = {};
  std::string note = {};  ///< whole sentences; empty: none
};

enum class HelpScope {
  kDaily,  ///< the flags of daily use
  kAll
};

/// Returns the text in lines of at most so many columns, except where a word without commas is
/// wider.
std::string help_text(const ProgramText& program, std::span<const FlagText> flags, HelpScope scope,
                      std::size_t columns);

/// Breaks a text between words into lines of at most so many columns, the indentation included, and
/// words that are wider after their commas. The first line is not indented, since it begins after
/// `used` columns.
std::string wrapped(std::string_view text, std::size_t used, std::size_t indentation,
                    std::size_t columns);

}  // namespace hios::cli
