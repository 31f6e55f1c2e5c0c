#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags/file_flags.h"
#include "cli/flags/flag_text.h"
#include "cli/flags/help.h"
#include "cli/process/terminal.h"
#include "hios/base/error.h"
#include "hios/base/json/json_io.h"

/// The command line of the three programs. Every message is an InputError that names the flag and
/// the values that it takes.
namespace hios::cli {

/// A program's flags: declared once, parsed strictly (no abbreviations; the only word without a
/// flag is that of --model), and read with their ranges.
class Flags {
 public:
  explicit Flags(ProgramText program);

  /// Adds a titled group of flags to --help.
  Flags& add(const boost::program_options::options_description& group);
  /// Adds words that a flag takes, for its completion. REQUIRES: the flag was added.
  Flags& add_values(std::string_view flag, const std::vector<std::string>& words);

  /// Throws InputError: words that are no flags of this program, a model twice, or flags that name
  /// the same file (cli/flags/file_flags.h), which --help and --version allow. "-" becomes the name
  /// of standard input or output (hios/base/files/streams.h); where results go there, texts for
  /// people go to standard error from now on (cli/process/output.h).
  void parse(int argc, const char* const* argv);

  /// Returns these flags with other values: words by flag. REQUIRES: flags with a text as value.
  Flags with(const std::vector<std::pair<std::string, std::string>>& words) const;

  bool given(const std::string& flag) const { return values_.count(flag) != 0; }
  /// Returns true if the user wrote the flag; a default value does not count.
  bool written(const std::string& flag) const { return given(flag) && !values_[flag].defaulted(); }
  /// Returns the flags that the user wrote and that are not `allowed`, by name.
  std::vector<std::string> written_except(const std::set<std::string_view>& allowed) const;
  std::string text(const std::string& flag) const;
  std::optional<std::string> optional_text(const std::string& flag) const;
  /// Returns a whole number within [min, max]. Throws InputError for other texts ("1e3", "4.0").
  std::int64_t integer(const std::string& flag, std::int64_t min, std::int64_t max) const;
  std::optional<std::int64_t> optional_integer(const std::string& flag, std::int64_t min,
                                               std::int64_t max) const;
  /// Returns a finite number within [min, max].
  double number(const std::string& flag, double min, double max) const;
  std::vector<std::string> list(const std::string& flag) const;  ///< comma-separated
  std::vector<std::string> repeated(const std::string& flag) const;

  /// Flags that name files, in the order of their declaration, with the values that they have.
  std::vector<NamedFile> files() const;
  /// Returns all declared flags of files; their names are empty.
  std::vector<NamedFile> file_flags() const;

  std::string help(HelpScope scope = HelpScope::kAll, std::size_t columns = kColumns) const;
  const ProgramText& program_text() const { return program_; }
  const std::vector<FlagText>& texts() const { return texts_; }  ///< in the order of --help all
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  /// Makes a word without a flag the value of --model. Throws InputError where there is no such
  /// flag, or a model already.
  void take_model(boost::program_options::parsed_options& parsed, const std::string& look_up) const;
  /// Returns "; did you mean --FLAG?" for an unknown flag, or an empty text.
  std::string meant_flag(const std::string& written) const;
  void name_streams();

  ProgramText program_;
  std::vector<FlagText> texts_;
  boost::program_options::options_description description_;
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
};

/// Declares a flag with a value, which stays text until it is read with its range.
boost::program_options::typed_value<std::string>* value(const char* name);

/// Returns --help --version -q -v --json --csv --seed --force --max-input.
boost::program_options::options_description common_flags();

/// The values of the common flags.
struct Common {
  std::optional<std::filesystem::path> json, csv;
  std::uint64_t seed = 0;
  Existing existing = Existing::kRefuse;
  ReadLimits limits;
};

/// Reads the common flags and sets the log level (`quiet` for ranks other than 0). Throws
/// InputError where --json or --csv cannot be written.
Common read_common(const Flags& flags, bool quiet);

/// Prints the help or the version if `print` (on rank 0 only). Returns true if the user asked for
/// one of them, and the program is done.
bool answered(const Flags& flags, bool print);

/// Returns the finite number within [min, max] that is the flag's value or an entry of its list.
double parse_number(const std::string& flag, const std::string& word, double min, double max);

/// Splits "a,b,c" into {a, b, c}; empty entries are kept.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace hios::cli
