#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

/// The texts of flags, read from the option tables that also parse them, so that help, manual pages
/// and completion know the same flags as the command line.
namespace hios::cli {

/// The text of a flag of daily use, which --help shows without "all". It is the last argument of
/// the flag's row in its option table.
class DailyText {
 public:
  explicit DailyText(std::string_view text);
  operator const char*() const { return marked_.c_str(); }

 private:
  std::string marked_;
};

/// Returns the text as that of a flag of daily use.
DailyText daily(std::string_view text);

/// A flag as people see it.
struct FlagText {
  std::string name;           ///< without dashes
  std::string letter;         ///< "h" for -h; empty: there is none
  std::string group;          ///< the caption of its option table
  std::string argument;       ///< "FILE"; empty: the flag takes no value
  bool optional = false;      ///< the value may be left out: --verify[=operators]
  std::string default_value;  ///< empty: there is none, or the text says it
  std::string text;
  bool is_daily = false;
  bool repeatable = false;
  std::string file;                 ///< "input", "output" or "folder"; empty: the value is no file
  std::vector<std::string> values;  ///< words that the flag takes, as far as they are known
};

/// Returns the flags of an option table, in its order. `values` has the words of the argument that
/// stand for themselves ("latency|throughput").
std::vector<FlagText> flag_texts(const boost::program_options::options_description& group);

/// Returns "-h, --help[=all]" or "--model NAME|FILE".
std::string spelling(const FlagText& flag);

}  // namespace hios::cli
