#pragma once

#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

namespace hios::cli {

/// Results in rows, as an aligned table for people, as CSV for scripts, and as a table of a page or
/// a paper.
class Table {
 public:
  /// `keys`: the number of first columns that name a row. REQUIRES: keys <= columns.size().
  explicit Table(std::vector<std::string> columns, std::size_t keys = 1)
      : columns_(std::move(columns)), keys_(keys) {}

  /// Appends a row. REQUIRES: one cell per column.
  void add(std::vector<std::string> cells);

  static constexpr std::size_t kAnyWidth = static_cast<std::size_t>(-1);

  /// Returns the table with the first column aligned left and the others right, two spaces between
  /// columns, and a rule under the head. A table of wider lines is folded: its columns follow in
  /// several tables, each of which begins with the columns that name the rows.
  std::string text(std::size_t line_width = kAnyWidth) const;
  std::string csv() const;       ///< RFC 4180
  std::string markdown() const;  ///< with pipes, as GitHub and pandoc read it
  std::string latex() const;     ///< a tabular, which needs no package

 private:
  std::vector<std::size_t> widths() const;
  std::vector<std::vector<std::size_t>> folded(const std::vector<std::size_t>& widths,
                                               std::size_t line_width) const;

  std::vector<std::string> columns_;
  std::size_t keys_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns "12.345", with this number of digits after the point.
std::string fixed(double value, int digits);
/// Returns bytes in units of 10⁶: "12.3".
std::string megabytes(Bytes size_bytes);
/// Returns the shortest text that reads back as the same number, for scripts.
std::string exact(double value);
/// Returns a value as a cell of a CSV: plain text, exact numbers, nothing for null.
std::string csv_text(const Json& value);
/// Returns a ratio as "+4.2 %".
std::string percent(double ratio);

}  // namespace hios::cli
