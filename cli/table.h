#pragma once

#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

namespace hios::cli {

/// Results in rows, as an aligned table for people and as CSV for scripts.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Appends a row. REQUIRES: one cell per column.
  void add(std::vector<std::string> cells);

  /// Returns the table with the first column aligned left and the others right, two spaces between
  /// columns, and a rule under the head.
  std::string text() const;
  std::string csv() const;  ///< RFC 4180

 private:
  std::vector<std::string> columns_;
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
