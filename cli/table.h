#pragma once

#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

namespace hios::cli {

/// Results as people and scripts read them: the same rows as an aligned table and as CSV.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// REQUIRES: one cell a column.
  void add(std::vector<std::string> cells);

  /// First column to the left, the others to the right, two spaces between, a rule under the head.
  std::string text() const;
  std::string csv() const;  ///< RFC 4180

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.345" with the given digits behind the point.
std::string fixed(double value, int digits);
/// Of bytes, in 10⁶: "12.3".
std::string megabytes(Bytes size_bytes);
/// The shortest text that reads back as the same number, for scripts.
std::string exact(double value);
/// A value as a cell of a CSV: plain text, exact numbers; nothing for null.
std::string csv_text(const Json& value);
/// "+4.2 %".
std::string percent(double ratio);

}  // namespace hios::cli
