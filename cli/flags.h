#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"

/// The command line that the three programs share. Every message is an InputError that names the
/// flag and what it takes.
namespace hios::cli {

/// A program's flags: declared once, parsed strictly (no abbreviations, no positional words), read
/// with their ranges.
class Flags {
 public:
  Flags(std::string program, std::string purpose);

  /// Adds a titled group of flags to --help.
  Flags& add(const boost::program_options::options_description& group);

  /// Throws InputError. After it, --help and --version are true in `asked()`.
  void parse(int argc, const char* const* argv);

  bool given(const std::string& flag) const { return values_.count(flag) != 0; }
  /// Whether the user wrote it, and it does not only have a value by default.
  bool written(const std::string& flag) const { return given(flag) && !values_[flag].defaulted(); }
  /// All that the user wrote, but for those that are `allowed`; by name.
  std::vector<std::string> written_beside(const std::set<std::string_view>& allowed) const;
  std::string text(const std::string& flag) const;
  std::optional<std::string> optional_text(const std::string& flag) const;
  /// A whole number written as one, within [min, max].
  std::int64_t integer(const std::string& flag, std::int64_t min, std::int64_t max) const;
  std::optional<std::int64_t> optional_integer(const std::string& flag, std::int64_t min,
                                               std::int64_t max) const;
  /// A finite number within [min, max].
  double number(const std::string& flag, double min, double max) const;
  std::vector<std::string> list(const std::string& flag) const;  ///< comma-separated
  std::vector<std::string> repeated(const std::string& flag) const;

  std::string help() const;
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  std::string program_;
  std::string purpose_;
  boost::program_options::options_description description_;
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
};

/// A flag that takes a value, kept as text until it is read with its range.
boost::program_options::typed_value<std::string>* value(const char* name);

/// --help --version -q -v --json --csv --seed --force --max-input.
boost::program_options::options_description common_flags();

/// What the common flags said.
struct Common {
  std::optional<std::filesystem::path> json, csv;
  std::uint64_t seed = 0;
  Existing existing = Existing::kRefuse;
  ReadLimits limits;
};

/// Reads the common flags and sets the log level (`quiet` for ranks other than 0). Checks that
/// --json and --csv can be written.
Common read_common(const Flags& flags, bool quiet);

/// Prints help or version when asked for (on rank 0 only); true if that was all.
bool answered(const Flags& flags, bool print);

/// A finite number within [min, max], as the flag's value or a part of it.
double parse_number(const std::string& flag, const std::string& word, double min, double max);

/// Throws InputError where two of the flags that name files name the same one: an output would
/// replace another, or an input.
void check_distinct_files(const Flags& flags);

/// Results for a person, on standard output; nothing under -q.
void show(const std::string& text);

/// The last thing a program does: throws RunError where standard output did not take all that was
/// shown (a full disk).
void finish_output();

/// The first thing a program does. A file that grows beyond `ulimit -f` is then an error of writing
/// it, with a line that names it, and no signal that ends the program without a word; and see
/// last_resort.h.
void prepare_process(const char* program);

/// Writes results after the work is done: what goes wrong then is a failure of the run, not bad
/// input.
template <class Write>
void write_after_work(Write write) {
  try {
    write();
  } catch (const InputError& error) {
    throw RunError(error.what(), error.need());
  }
}

/// "a,b,c" → {a, b, c}; empty entries are kept.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace hios::cli
