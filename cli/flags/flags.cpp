#include "cli/flags/flags.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "cli/process/output.h"
#include "cli/process/version.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/base/log.h"
#include "hios/base/nearest_name.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

// Values of --help: the one that it takes, and that of --help alone.
constexpr const char* kAllFlags = "all";
constexpr const char* kDailyFlags = "daily";

/// Returns the words of a command line; "--help all" is one word, since a flag whose value may be
/// left out takes none from the next word.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const bool after_help = !words.empty() && (words.back() == "--help" || words.back() == "-h");
    if (after_help && argv[i] == std::string_view(kAllFlags))
      words.back() = std::string("--help=") + kAllFlags;
    else
      words.emplace_back(argv[i]);
  }
  return words;
}

/// The flag that a word without one belongs to.
constexpr const char* kModel = "model";

/// Takes the word after a flag that also stands alone ("--verify squeezenet") from it. Returns it;
/// empty where there is none.
std::vector<std::string> model_after_a_flag(const po::options_description& flags,
                                            po::parsed_options& parsed) {
  for (po::option& each : parsed.options) {
    const auto* const declared =
        each.string_key.empty() ? nullptr : flags.find_nothrow(each.string_key, false);
    const bool stands_alone = declared && declared->semantic()->min_tokens() == 0 &&
                              declared->semantic()->max_tokens() == 1;
    if (!stands_alone || each.original_tokens.size() < 2) continue;
    each.original_tokens.resize(1);
    return std::exchange(each.value, {});
  }
  return {};
}

/// Gives files of a repeatable flag a path, where they are called like a stream: such a flag takes
/// none.
void set_paths_of_files(std::vector<std::string>& words) {
  for (std::string& word : words) {
    const FileForName given = split_name(word);
    if (!is_standard_input(given.file) && !is_standard_output(given.file)) continue;
    word = (given.name.empty() ? "" : given.name + ":") + "./" + given.file;
  }
}

}  // namespace

Flags::Flags(ProgramText program) : program_(std::move(program)), description_("", 100, 45) {}

Flags& Flags::add(const po::options_description& group) {
  description_.add(group);
  for (FlagText& flag : flag_texts(group)) texts_.push_back(std::move(flag));
  return *this;
}

Flags& Flags::add_values(std::string_view flag, const std::vector<std::string>& words) {
  const auto found = std::ranges::find(texts_, flag, &FlagText::name);
  found->values.insert(found->values.end(), words.begin(), words.end());
  return *this;
}

void Flags::parse(int argc, const char* const* argv) {
  arguments_.assign(argv, argv + argc);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const std::string look_up = " (" + program_.program + " --help all lists the flags)";
  try {
    po::positional_options_description bare;
    bare.add(kModel, -1);
    po::parsed_options parsed = po::command_line_parser(words_of(argc, argv))
                                    .options(description_)
                                    .positional(bare)
                                    .style(style)
                                    .run();
    take_model(parsed, look_up);
    po::store(parsed, values_);
    po::notify(values_);
  } catch (const po::unknown_option& error) {
    throw InputError(std::string(error.what()) + meant_flag(error.get_option_name()) + look_up);
  } catch (const po::error& error) {
    throw InputError(std::string(error.what()) + look_up);
  }
  for (const auto& [flag, given_value] : values_) {
    const auto* const word = boost::any_cast<std::string>(&given_value.value());
    const po::option_description& option = description_.find(flag, false);
    const bool takes_value = option.semantic()->max_tokens() > 0;
    if (!takes_value || !word || !word->empty()) continue;
    throw InputError("--" + flag + " is empty: give it " + option.format_parameter());
  }
  if (given("help") && text("help") != kAllFlags && text("help") != kDailyFlags) {
    throw InputError("--help takes nothing or all, not " + quote(text("help")));
  }
  if (given("help") || given("version")) return;
  name_streams();
  check_distinct_files(files());
}

void Flags::name_streams() {
  bool to_standard_output = false;
  for (const StreamName& stream : streams_of(files())) {
    boost::any& given_value = values_.at(stream.flag).value();
    if (auto* const words = boost::any_cast<std::vector<std::string>>(&given_value)) {
      set_paths_of_files(*words);
    } else {
      given_value = stream.name;
    }
    to_standard_output = to_standard_output || stream.name == kStandardOutput;
  }
  show_on_standard_error(to_standard_output);
}

Flags Flags::with(const std::vector<std::pair<std::string, std::string>>& words) const {
  Flags other = *this;
  for (const auto& [flag, word] : words) {
    const auto found = other.values_.find(flag);
    if (found == other.values_.end()) {
      other.values_.emplace(flag, po::variable_value(word, false));
    } else {
      found->second.value() = word;
    }
  }
  return other;
}

void Flags::take_model(po::parsed_options& parsed, const std::string& look_up) const {
  std::vector<std::string> bare;
  std::optional<std::string> by_flag;
  for (const po::option& each : parsed.options) {
    if (each.position_key >= 0) {
      bare.insert(bare.end(), each.value.begin(), each.value.end());
    } else if (each.string_key == kModel && !each.value.empty()) {
      by_flag = each.value.front();
    }
  }
  if (bare.empty() && !by_flag) bare = model_after_a_flag(description_, parsed);
  if (bare.empty()) return;
  const std::string first = quote(bare.front());
  if (!description_.find_nothrow(kModel, false)) throw InputError(first + " is no flag" + look_up);
  if (by_flag) {
    throw InputError(first + " and --model " + printable(*by_flag, 200) +
                     " both name the model: leave one out");
  }
  if (bare.size() > 1) {
    throw InputError(first + " is the model, and " + quote(bare[1]) + " needs a flag before it" +
                     look_up);
  }
  std::erase_if(parsed.options, [](const po::option& each) { return each.position_key >= 0; });
  po::option model(kModel, bare);
  model.original_tokens = bare;
  parsed.options.push_back(std::move(model));
}

std::string Flags::meant_flag(const std::string& written) const {
  std::vector<std::string> flags;
  for (const auto& option : description_.options()) flags.push_back(option->long_name());
  const std::vector<std::string_view> names(flags.begin(), flags.end());
  const std::string_view meant = nearest_name(
      std::string_view(written).substr(std::min(written.size(), written.find_first_not_of('-'))),
      names);
  return meant.empty() ? "" : "; did you mean --" + std::string(meant) + "?";
}

std::vector<NamedFile> Flags::file_flags() const {
  std::vector<NamedFile> declared;
  for (const auto& option : description_.options()) {
    if (const auto* const value = dynamic_cast<const DeclaredFile*>(option->semantic().get()))
      declared.push_back({option->long_name(), {}, value, false});
  }
  return declared;
}

std::vector<NamedFile> Flags::files() const {
  std::vector<NamedFile> named;
  for (NamedFile& file : file_flags()) {
    if (!given(file.flag)) continue;
    if (dynamic_cast<const NamedFileValues*>(file.declared) != nullptr) {
      for (const std::string& word : repeated(file.flag)) {
        file.name = split_name(word).file;
        named.push_back(file);
      }
      continue;
    }
    file.name = text(file.flag);
    file.by_default = !written(file.flag);
    named.push_back(std::move(file));
  }
  return named;
}

std::vector<std::string> Flags::written_except(const std::set<std::string_view>& allowed) const {
  std::vector<std::string> flags;
  for (const auto& [flag, given_value] : values_) {
    if (!given_value.defaulted() && !allowed.contains(flag)) flags.push_back(flag);
  }
  return flags;
}

std::string Flags::text(const std::string& flag) const {
  if (!given(flag)) throw InputError("--" + flag + " is needed (" + program_.program + " --help)");
  return values_[flag].as<std::string>();
}

std::optional<std::string> Flags::optional_text(const std::string& flag) const {
  if (!given(flag)) return std::nullopt;
  return values_[flag].as<std::string>();
}

std::int64_t Flags::integer(const std::string& flag, std::int64_t min, std::int64_t max) const {
  const std::string word = text(flag);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < min || number > max) {
    throw InputError("--" + flag + " takes a whole number from " + std::to_string(min) + " to " +
                     std::to_string(max) + ", not '" + word + "'");
  }
  return number;
}

std::optional<std::int64_t> Flags::optional_integer(const std::string& flag, std::int64_t min,
                                                    std::int64_t max) const {
  if (!given(flag)) return std::nullopt;
  return integer(flag, min, max);
}

double Flags::number(const std::string& flag, double min, double max) const {
  return parse_number(flag, text(flag), min, max);
}

std::vector<std::string> Flags::list(const std::string& flag) const {
  const std::vector<std::string> words = split(text(flag), ',');
  for (const std::string& word : words) {
    if (word.empty()) throw InputError("--" + flag + " has an empty entry in '" + text(flag) + "'");
  }
  return words;
}

std::vector<std::string> Flags::repeated(const std::string& flag) const {
  return given(flag) ? values_[flag].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string Flags::help(HelpScope scope, std::size_t columns) const {
  return help_text(program_, texts_, scope, columns);
}

po::typed_value<std::string>* value(const char* name) {
  return po::value<std::string>()->value_name(name);
}

po::options_description common_flags() {
  po::options_description group("Common", 100, 45);
  group.add_options()("help,h", value(kAllFlags)->implicit_value(kDailyFlags, ""),
                      "print the flags of daily use, or all, and end")(
      "version", "print version, commit and build, and end");
  group.add_options()("quiet,q", "errors only, and the warning of a profile from elsewhere")(
      "verbose,v", "say more");
  group.add_options()("json", output_file("FILE"),
                      "write the results as JSON (-: to standard output)");
  group.add_options()("csv", output_file("FILE"),
                      "write the results as CSV (-: to standard output)");
  group.add_options()("seed", value("N")->default_value("0"),
                      "seed of weights, inputs and random graphs");
  group.add_options()("force", daily("replace output files that exist"));
  group.add_options()(
      "max-input", value("BYTES")->default_value("33554432"),
      "refuse larger input files without reading them (32 MiB; ONNX files with their data 2 GiB)");
  return group;
}

namespace {

/// Returns true if the user asks for versions, routes and their reasons, as of NCCL by NCCL_DEBUG.
bool asks_for_information() {
  const char* const words = std::getenv("HIOS_DEBUG");
  return words != nullptr && std::string_view(words) == "info";
}

}  // namespace

Common read_common(const Flags& flags, bool quiet) {
  if (flags.given("quiet") && flags.given("verbose"))
    throw InputError("-q and -v exclude each other");
  log::set_level(quiet || flags.given("quiet")                      ? log::Level::kQuiet
                 : flags.given("verbose") || asks_for_information() ? log::Level::kVerbose
                                                                    : log::Level::kNormal);
  Common common;
  common.seed = static_cast<std::uint64_t>(flags.integer("seed", 0, INT64_MAX));
  common.existing = flags.given("force") ? Existing::kReplace : Existing::kRefuse;
  common.limits.max_bytes = static_cast<Bytes>(flags.integer("max-input", 1, INT64_MAX));
  if (flags.written("max-input")) common.limits.max_weights_bytes = common.limits.max_bytes;
  if (const auto file = flags.optional_text("json")) common.json = *file;
  if (const auto file = flags.optional_text("csv")) common.csv = *file;
  if (common.json && !quiet) check_writable(*common.json, common.existing);
  if (common.csv && !quiet) check_writable(*common.csv, common.existing);
  return common;
}

bool answered(const Flags& flags, bool print) {
  if (flags.given("help")) {
    const bool all = flags.text("help") == kAllFlags;
    const HelpScope scope = all ? HelpScope::kAll : HelpScope::kDaily;
    if (print) std::fputs(flags.help(scope, columns_of_stream(STDOUT_FILENO)).c_str(), stdout);
    return true;
  }
  if (flags.given("version")) {
    if (print) std::puts(version_line().c_str());
    return true;
  }
  return false;
}

double parse_number(const std::string& flag, const std::string& word, double min, double max) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number) ||
      number < min || number > max) {
    std::ostringstream range;
    range << "--" << flag << " takes a number from " << min << " to " << max << ", not '" << word
          << "'";
    throw InputError(range.str());
  }
  return number;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos;
       begin = end + 1) {
    words.emplace_back(text.substr(begin, end - begin));
  }
  words.emplace_back(text.substr(begin));
  return words;
}

}  // namespace hios::cli
