#include "cli/flags/flag_text.h"

#include <algorithm>
#include <new>
#include <sstream>

#include "cli/flags/file_flags.h"
#include "cli/flags/flags.h"

// Boost.Program_options keeps no more about an option than its text. Therefore the text of a
// flag of daily use begins with a character that no text has, and it is taken off here.
// tests/cli/flags/flag_text_test.cpp.
namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr char kDailyMark = '\x01';

/// Boost reads the names of an option from a stream, and a stream swallows what is thrown inside
/// it: an option whose name found no memory has none, and printing it would read what is not there.
void refuse_lost_names(const po::options_description& group) {
  const bool lost = std::ranges::any_of(
      group.options(), [](const auto& option) { return option->long_name().empty(); });
  if (lost) throw std::bad_alloc();
}

/// Returns the caption, which Boost gives only by printing the table: "Model:" in the first line.
std::string caption_of(const po::options_description& group) {
  std::ostringstream printed;
  printed << group;
  const std::string text = printed.str();
  return text.substr(0, std::min(text.find(":\n"), text.size()));
}

/// Splits Boost's name of a value: "N (=5)" or "[=operators(=outputs)]".
void read_argument(const po::value_semantic& semantic, FlagText& flag) {
  if (semantic.max_tokens() == 0) return;
  std::string name = semantic.name();
  flag.optional = semantic.min_tokens() == 0;
  if (name.starts_with("[=")) {
    flag.argument = name.substr(2, name.find("(=") - 2);
    return;
  }
  const std::size_t end = name.rfind(" (=");
  flag.argument = name.substr(0, end);
  if (end != std::string::npos) flag.default_value = name.substr(end + 3, name.size() - end - 4);
}

const char* file_word(FileRole role) {
  switch (role) {
    case FileRole::kInput:
      return "input";
    case FileRole::kOutput:
      return "output";
    case FileRole::kOutputFolder:
      return "folder";
  }
  return "";
}

/// Returns true for a word that is a value itself: "latency", and not "NAME".
bool is_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

FlagText flag_text(const po::option_description& option, const std::string& group) {
  FlagText flag;
  flag.name = option.long_name();
  flag.group = group;
  const std::string shortest =
      option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  if (shortest.size() == 2 && shortest[0] == '-') flag.letter = shortest.substr(1);
  flag.text = option.description();
  flag.is_daily = flag.text.starts_with(kDailyMark);
  if (flag.is_daily) flag.text.erase(0, 1);
  const po::value_semantic& semantic = *option.semantic();
  read_argument(semantic, flag);
  flag.repeatable =
      dynamic_cast<const po::typed_value<std::vector<std::string>>*>(&semantic) != nullptr;
  if (const auto* const file = dynamic_cast<const DeclaredFile*>(&semantic))
    flag.file = file_word(file->role());
  else if (flag.argument.starts_with("FILE"))  // read, without a role: --explain FILE...
    flag.file = file_word(FileRole::kInput);
  for (std::string& word : split(flag.argument, '|')) {
    if (is_word(word)) flag.values.push_back(std::move(word));
  }
  return flag;
}

}  // namespace

DailyText::DailyText(std::string_view text) : marked_(1, kDailyMark) { marked_ += text; }

DailyText daily(std::string_view text) { return DailyText(text); }

std::vector<FlagText> flag_texts(const po::options_description& group) {
  refuse_lost_names(group);
  const std::string caption = caption_of(group);
  std::vector<FlagText> flags;
  for (const auto& option : group.options()) flags.push_back(flag_text(*option, caption));
  return flags;
}

std::string spelling(const FlagText& flag) {
  std::string text = (flag.letter.empty() ? "--" : "-" + flag.letter + ", --") + flag.name;
  if (flag.argument.empty()) return text;
  return text + (flag.optional ? "[=" + flag.argument + "]" : " " + flag.argument);
}

}  // namespace hios::cli
