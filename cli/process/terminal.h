#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

/// The width of the text that a program prints for a person.
namespace hios::cli {

/// The width of text that nothing gives another width, in columns.
constexpr std::size_t kColumns = 80;

/// Returns the columns of a text: those that the environment names (COLUMNS), else those of the
/// terminal, else 80, and never less than 40. Text that goes to no terminal has at most 80.
/// `terminal`: the columns of the terminal, 0 where it does not know them; empty: there is none.
std::size_t columns_of_text(std::optional<std::string_view> environment,
                            std::optional<std::size_t> terminal);

/// Returns the columns of text on an open file or stream.
std::size_t columns_of_stream(int descriptor);

}  // namespace hios::cli
