#include "cli/flags/help.h"

#include <algorithm>
#include <sstream>

// A group is a title and two columns, flags and their texts; a flag that is wider than its column
// has its text on the next line. On narrow terminals all have. tests/cli/flags/help_test.cpp.
namespace hios::cli {

namespace {

constexpr std::size_t kWidestFlag = 26;  // in the column of flags
constexpr std::size_t kTwoColumns = 64;  // narrower text has one
constexpr std::size_t kIndentation = 6;  // of texts below their flags
constexpr std::size_t kMargin = 2;       // before flags, and between the columns

/// Returns the characters of a UTF-8 text, which are the bytes that start one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string spaces(std::size_t count) { return std::string(count, ' '); }

/// Returns the words of a command line, each flag with its value.
std::vector<std::string> flags_with_values(const std::string& command) {
  std::vector<std::string> parts;
  std::istringstream words(command);
  for (std::string word; words >> word;) {
    if (parts.empty() || word.starts_with("-"))
      parts.push_back(word);
    else
      parts.back() += " " + word;
  }
  return parts;
}

/// Breaks a command line before flags, so that it still runs when pasted.
std::string command_lines(const std::string& command, std::size_t columns) {
  constexpr std::size_t kContinuation = 2;  // " \" at the end of a line
  std::string lines = spaces(kMargin);
  std::size_t used = kMargin;
  for (const std::string& part : flags_with_values(command)) {
    const bool first = used == kMargin;
    if (!first && used + 1 + characters(part) + kContinuation > columns) {
      lines += " \\\n" + spaces(kIndentation);
      used = kIndentation;
    } else if (!first) {
      lines += ' ';
      ++used;
    }
    lines += part;
    used += characters(part);
  }
  return lines + "\n";
}

/// Returns the parts of a word that is too wide for a line, each with the comma that ends it.
std::vector<std::string> parts_at_commas(const std::string& word) {
  std::vector<std::string> parts(1);
  for (const char c : word) {
    parts.back() += c;
    if (c == ',') parts.emplace_back();
  }
  return parts;
}

std::string text_of(const FlagText& flag) {
  if (flag.default_value.empty()) return flag.text;
  return flag.text + " (default: " + flag.default_value + ")";
}

std::string flag_lines(const FlagText& flag, std::size_t column, std::size_t columns) {
  const std::string name = spaces(kMargin) + spelling(flag);
  if (column == 0 || characters(name) + kMargin > column) {
    const std::size_t indentation = column == 0 ? kIndentation : column;
    return name + "\n" + spaces(indentation) +
           wrapped(text_of(flag), indentation, indentation, columns) + "\n";
  }
  return name + spaces(column - characters(name)) +
         wrapped(text_of(flag), column, column, columns) + "\n";
}

/// Returns the column where the texts begin; 0: below their flags.
std::size_t column_of_texts(std::span<const FlagText* const> flags, std::size_t columns) {
  if (columns < kTwoColumns) return 0;
  std::size_t widest = 0;
  for (const FlagText* const flag : flags) {
    const std::size_t width = characters(spelling(*flag));
    if (width <= kWidestFlag) widest = std::max(widest, width);
  }
  return kMargin + widest + kMargin;
}

std::string introduction(const ProgramText& program, std::size_t columns) {
  const std::string usage = "usage: " + program.program + " ";
  std::string text = usage + wrapped(program.usage, usage.size(), usage.size(), columns) + "\n";
  for (const Example& example : program.examples) {
    text += "\n" + spaces(kMargin) + "# " +
            wrapped(example.result, 2 * kMargin, 2 * kMargin, columns) + "\n" +
            command_lines(example.command, columns);
  }
  const std::string about = program.program + ": " + program.purpose + ".";
  text += "\n" + wrapped(about, 0, 0, columns) + "\n";
  if (!program.note.empty()) text += wrapped(program.note, 0, 0, columns) + "\n";
  return text;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t used, std::size_t indentation,
                    std::size_t columns) {
  std::string lines;
  std::istringstream words{std::string(text)};
  bool first = true;
  for (std::string word; words >> word;) {
    const bool breaks_at_commas = characters(word) > columns - indentation;
    bool spaced = !first;
    for (const std::string& part : breaks_at_commas ? parts_at_commas(word) : std::vector{word}) {
      if (!first && used + spaced + characters(part) > columns) {
        lines += "\n" + spaces(indentation);
        used = indentation;
        spaced = false;
      }
      lines += (spaced ? " " : "") + part;
      used += spaced + characters(part);
      first = spaced = false;
    }
  }
  return lines;
}

std::string help_text(const ProgramText& program, std::span<const FlagText> flags, HelpScope scope,
                      std::size_t columns) {
  std::vector<const FlagText*> shown;
  for (const FlagText& flag : flags) {
    if (scope == HelpScope::kAll || flag.is_daily) shown.push_back(&flag);
  }
  const std::size_t column = column_of_texts(shown, columns);
  std::string text = introduction(program, columns);
  const std::string* group = nullptr;
  for (const FlagText* const flag : shown) {
    if (!group || *group != flag->group)
      text += "\n" + wrapped(flag->group + ":", 0, kMargin, columns) + "\n";
    group = &flag->group;
    text += flag_lines(*flag, column, columns);
  }
  if (scope == HelpScope::kDaily) {
    text += "\n" +
            wrapped(program.program + " --help all explains all " + std::to_string(flags.size()) +
                        " flags.",
                    0, 0, columns) +
            "\n";
  }
  return text;
}

}  // namespace hios::cli
