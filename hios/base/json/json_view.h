#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/base/json/json.h"

/// Checked reading of a JSON document: one reader for every format. Each message is an InputError
/// that names the file, the JSON path and the remedy.
namespace hios {

/// The largest time and size that a file may name: doubles hold them exactly, and sums of a million
/// of them are finite.
inline constexpr double kMaxMs = 1e9;
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 53;

/// A JSON value together with its path ("$.devices[0].stages[2]"). Cheap to copy; refers to the
/// document, which must outlive it. Every getter throws InputError on a wrong type or range.
class JsonView {
 public:
  JsonView(const Json& value, std::string file, std::string path = "$");

  const Json& json() const { return *value_; }
  std::string where() const;  ///< "profile.json: $.configurations[0]"
  const std::string& file() const { return *file_; }
  [[noreturn]] void fail(const std::string& message) const;

  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;
  bool is_null() const;

  /// Returns one line of text; refuses control characters and more than 64 KiB.
  std::string string() const;
  bool boolean() const;
  /// Returns a finite number within [min, max].
  double number(double min, double max) const;
  /// Returns a whole number within [min, max] that is written as one (3.9 and 3e0 are refused).
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  std::vector<JsonView> array() const;
  /// Returns the members of an object whose keys are data (signatures, device names).
  std::vector<std::pair<std::string, JsonView>> members() const;
  /// Returns a member and its index among the members. REQUIRES: is_object().
  std::optional<std::pair<std::size_t, JsonView>> find(std::string_view key) const;

 private:
  JsonView(const Json& value, std::shared_ptr<const std::string> file, std::string path);

  const Json* value_;
  std::shared_ptr<const std::string> file_;
  std::string path_;
};

/// A reader of an object, key by key. finish() refuses every key that was not read, except "extra",
/// which readers keep and ignore.
class ObjectReader {
 public:
  explicit ObjectReader(const JsonView& view);  ///< throws unless it is an object

  JsonView required(std::string_view key);
  std::optional<JsonView> optional(std::string_view key);
  void finish() const;
  const JsonView& view() const { return view_; }

 private:
  JsonView view_;
  std::vector<bool> seen_;
};

/// The version of each format.
inline constexpr int kFormatVersion = 1;

/// Opens a file of this format: checks "format" and "version", which is kFormatVersion, and marks
/// them as read.
ObjectReader open_format(const JsonView& root, std::string_view format);

}  // namespace hios
