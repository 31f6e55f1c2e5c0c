#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "hios/base/ids.h"

/// The only door to files. Reading: one checked reader for every format; each message is an
/// InputError that names the file, the JSON path and the remedy. Writing: whole or not at all.
namespace hios {

using Json = nlohmann::ordered_json;

struct ReadLimits {
  Bytes max_bytes = 32ull << 20;  ///< a larger file is refused by its size, unread
  /// The same for a file that holds weights, and those beside it, together.
  Bytes max_weights_bytes = 2ull << 30;
  int max_depth = 64;  ///< deeper nesting is refused while parsing
};

/// The largest time and size of one thing that a file may name: doubles hold them exactly, and sums
/// of a million of them are finite.
inline constexpr double kMaxMs = 1e9;
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 53;

/// The bytes of a regular file (links are followed). Throws InputError: missing, unreadable, no
/// regular file, or larger than the limit.
std::string read_text(const std::filesystem::path& file, const ReadLimits& limits);

/// Parses the file. Refuses, with file and JSON path: a missing or unreadable file, anything but a
/// regular file (links are followed), an empty or truncated one, a duplicate key, nesting over the
/// limit, a number that no double holds (1e400).
Json read_json(const std::filesystem::path& file, const ReadLimits& limits = {});

/// The same for text that came from elsewhere; `name` stands for the file in messages.
Json parse_json(std::string_view text, const std::string& name, const ReadLimits& limits = {});

/// What may happen to a file that exists already.
enum class Existing { kRefuse, kReplace };

/// Throws InputError if `file` could not be written now (no such folder, no permission, exists and
/// may not be replaced): asked before any work, so that hours of measuring are not lost at the end.
void check_writable(const std::filesystem::path& file, Existing existing);

/// Temporary file beside it, fsync, rename: a reader sees the old file or the new one, whole. With
/// kRefuse of two writers at the same time one gets the InputError. Of a link the file that it
/// points to is replaced; only regular files are, and they keep their permissions. Throws RunError
/// where the system fails (disk full).
void write_text(const std::filesystem::path& file, std::string_view text, Existing existing);

/// Short arrays and flat records on one line, other objects indented; ends with a newline. Numbers
/// read back as the same double. Throws RunError for a number that is not finite (JSON has none).
/// REQUIRES: nesting as a reader would take it.
std::string to_text(const Json& json);
void write_json(const std::filesystem::path& file, const Json& json, Existing existing);

/// Grows a file that other programs may grow at the same moment: `change` is given what the file
/// holds now (null: there is none) and returns what it shall hold, and no other update comes
/// between. It may be called again. Waits for other updates; throws RunError where one takes longer
/// than half a minute. Where the file system has no locks, warns, and goes on without.
void update_json(const std::filesystem::path& file, const ReadLimits& limits,
                 const std::function<Json(const Json* now)>& change);

/// A JSON value together with where it stands ("$.devices[0].stages[2]"). Cheap to copy; refers
/// to the document, which must outlive it. Every getter throws InputError on a wrong type or range.
class JsonView {
 public:
  JsonView(const Json& value, std::string file, std::string path = "$");

  const Json& json() const { return *value_; }
  std::string where() const;  ///< "profile.json: $.configurations[0]"
  [[noreturn]] void fail(const std::string& message) const;

  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;
  bool is_null() const;

  /// One line of text: control characters are refused, and more than 64 KiB.
  std::string string() const;
  bool boolean() const;
  /// Finite and within [min, max].
  double number(double min, double max) const;
  /// A whole number written as one (3.9 and 3e0 are refused), within [min, max].
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  /// The elements of an array.
  std::vector<JsonView> array() const;
  /// The members of an object whose keys are data (signatures, device names).
  std::vector<std::pair<std::string, JsonView>> members() const;
  /// A member and its index among the members. REQUIRES: is_object().
  std::optional<std::pair<std::size_t, JsonView>> find(std::string_view key) const;

 private:
  JsonView(const Json& value, std::shared_ptr<const std::string> file, std::string path);

  const Json* value_;
  std::shared_ptr<const std::string> file_;
  std::string path_;
};

/// Reads an object key by key and, at finish(), refuses every key that nobody asked for, except
/// "extra", which readers keep and ignore.
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
