#include "cli/process/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace hios::cli {

namespace {

// Narrower text is hard to read, and terminals break its lines themselves.
constexpr std::size_t kFewestColumns = 40;
constexpr std::size_t kMostColumns = 1000;

/// Returns the number that COLUMNS holds; 0: none.
std::size_t columns_in(std::string_view text) {
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc() && end == text.data() + text.size() ? columns : 0;
}

}  // namespace

std::size_t columns_of_text(std::optional<std::string_view> environment,
                            std::optional<std::size_t> terminal) {
  std::size_t columns = environment ? columns_in(*environment) : 0;
  if (columns == 0) columns = terminal.value_or(0);
  if (columns == 0) columns = kColumns;
  return std::clamp(columns, kFewestColumns, terminal ? kMostColumns : kColumns);
}

std::size_t columns_of_stream(int descriptor) {
  const char* const columns = std::getenv("COLUMNS");
  std::optional<std::size_t> terminal;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0) terminal = size.ws_col;
  return columns_of_text(columns ? std::optional<std::string_view>(columns) : std::nullopt,
                         terminal);
}

}  // namespace hios::cli
