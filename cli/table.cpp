#include "cli/table.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

namespace hios::cli {

namespace {

constexpr std::string_view kGap = "  ";  ///< between two columns

/// Returns the characters of a UTF-8 text, which are the bytes that start one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string pad(const std::string& text, std::size_t to, bool left) {
  const std::string space(to - std::min(to, width(text)), ' ');
  return left ? text + space : space + text;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Returns a character that Markdown could take for its own, so that it shows.
std::string markdown_character(char c) {
  constexpr std::string_view kOwn = "\\|*_`[]~#";
  if (c == '<') return "&lt;";
  if (c == '&') return "&amp;";
  if (c == '\n' || c == '\r') return " ";
  return kOwn.find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
}

std::string latex_character(char c) {
  constexpr std::string_view kOwn = "&%$#_{}";
  switch (c) {
    case '\\':
      return "\\textbackslash{}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '|':
      return "\\textbar{}";
    case '"':
      return "\\textquotedbl{}";
    case '\n':
    case '\r':
      return " ";
    default:
      return kOwn.find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
  }
}

std::string escaped(const std::string& text, std::string (*character)(char)) {
  std::string out;
  for (const char c : text) out += character(c);
  return out;
}

}  // namespace

void Table::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = width(columns_[c]);
    for (const auto& row : rows_) widest = std::max(widest, width(row[c]));
    widths.push_back(widest);
  }
  return widths;
}

/// Returns the columns of each table: those that name the rows, and as many others as fit, at least
/// one.
std::vector<std::vector<std::size_t>> Table::folded(const std::vector<std::size_t>& widths,
                                                    std::size_t line_width) const {
  std::vector<std::size_t> keys(keys_);
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  std::size_t of_keys = 0;
  for (const std::size_t c : keys) of_keys += (c ? kGap.size() : 0) + widths[c];
  std::vector<std::vector<std::size_t>> tables = {keys};
  std::size_t used = of_keys;
  for (std::size_t c = keys_; c < widths.size(); ++c) {
    const std::size_t more = kGap.size() + widths[c];
    if (used + more > line_width && tables.back().size() > keys_) {
      tables.push_back(keys);
      used = of_keys;
    }
    tables.back().push_back(c);
    used += more;
  }
  return tables;
}

std::string Table::text(std::size_t line_width) const {
  const std::vector<std::size_t> all_widths = widths();
  std::vector<std::string> rules;
  for (const std::size_t w : all_widths) rules.emplace_back(w, '-');
  std::string out;
  for (const std::vector<std::size_t>& shown : folded(all_widths, line_width)) {
    const auto line = [&](const std::vector<std::string>& cells) {
      std::string row;
      for (const std::size_t c : shown)
        row += std::string(c ? kGap : "") + pad(cells[c], all_widths[c], c == 0);
      row.erase(row.find_last_not_of(' ') + 1);
      out += row + "\n";
    };
    if (!out.empty()) out += "\n";
    line(columns_);
    line(rules);
    for (const auto& row : rows_) line(row);
  }
  return out;
}

std::string Table::csv() const {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) out += (c ? "," : "") + csv_cell(cells[c]);
    out += "\n";
  };
  line(columns_);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string Table::markdown() const {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out += "| " + escaped(cell, markdown_character) + " ";
    out += "|\n";
  };
  line(columns_);
  for (std::size_t c = 0; c < columns_.size(); ++c) out += c == 0 ? "|:---" : "|---:";
  out += "|\n";
  for (const auto& row : rows_) line(row);
  return out;
}

std::string Table::latex() const {
  std::string out = "\\begin{tabular}{l" + std::string(columns_.size() - 1, 'r') + "}\n\\hline\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      out += (c ? " & " : "") + escaped(cells[c], latex_character);
    out += " \\\\\n";
  };
  line(columns_);
  out += "\\hline\n";
  for (const auto& row : rows_) line(row);
  return out + "\\hline\n\\end{tabular}\n";
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string megabytes(Bytes size_bytes) { return fixed(static_cast<double>(size_bytes) / 1e6, 1); }

std::string exact(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string csv_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return exact(value.get<double>());
  return value.dump();
}

std::string percent(double ratio) {
  char text[64];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * ratio);
  return text;
}

}  // namespace hios::cli
