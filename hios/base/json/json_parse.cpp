#include "hios/base/json/json_parse.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_path.h"
#include "hios/base/need.h"

// The library's own tree builder accepts texts that a checked reader must refuse: of a duplicate
// key the last wins, nesting has no limit (a tree 10^6 deep crashes the first function that walks
// it), and a zero byte silently ends the text. Here the library only cuts the text into events, and
// TreeBuilder makes the tree. It keeps the path from the root to the value that is being read,
// which every message names.
//
// Cost: linear in the text. Members are appended to the object's vector rather than inserted, since
// insertion searches it; a hash set of keys for each open object finds duplicates.
namespace hios {
namespace {

class TreeBuilder {
 public:
  TreeBuilder(const std::string& name, std::string_view text, int max_depth)
      : name_(name), text_(text), max_depth_(static_cast<std::size_t>(max_depth)) {}

  Json take() { return std::move(root_); }

  // The events have the names that the library gives them.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    Frame& frame = frames_.back();
    frame.key = std::move(key);
    frame.has_key = true;
    if (!frame.keys.insert(frame.key).second) {
      fail(path(frames_.size()) + ": the key is there twice; remove one of the two");
    }
    return true;
  }

  template <class Exception>
  bool parse_error(std::size_t position, const std::string& token, const Exception& exception) {
    constexpr int kNumberOverflow = 406;
    if (exception.id == kNumberOverflow) {
      fail(path(frames_.size()) + ": " + printable(token, 40) +
           " is out of range: no double holds it");
    }
    if (position > text_.size()) {
      fail(line_and_column(text_.size()) + ": the file ends in the middle of " +
           path(frames_.size()) + "; write or copy it again");
    }
    fail(line_and_column(position == 0 ? 0 : position - 1) + ": not valid JSON at " +
         path(frames_.size()) + ": " + reason(exception.what()) + "; correct it there");
  }

 private:
  /// An array or object that is not closed yet.
  struct Frame {
    Json value;
    bool has_key = false;                  ///< a member is being read
    std::string key;                       ///< its key
    std::unordered_set<std::string> keys;  ///< read so far
  };

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(name_ + ": " + message);
  }

  bool add(Json value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& frame = frames_.back();
    if (frame.value.is_array()) {
      frame.value.push_back(std::move(value));
    } else {
      frame.value.get_ref<Json::object_t&>().emplace_back(std::move(frame.key), std::move(value));
      frame.has_key = false;
    }
    return true;
  }

  bool open(Json container) {
    if (frames_.size() == max_depth_) {
      fail(line_and_column_of_depth() + "nested more than " + std::to_string(max_depth_) +
           " levels deep; no file of ours is");
    }
    frames_.push_back({std::move(container), false, {}, {}});
    return true;
  }

  bool close() {
    Json value = std::move(frames_.back().value);
    frames_.pop_back();
    return add(std::move(value));
  }

  /// Returns the path of the value that is being read inside the first `frames` open containers.
  std::string path(std::size_t frames) const {
    std::string text = "$";
    for (std::size_t i = 0; i < frames; ++i) {
      const Frame& frame = frames_[i];
      if (frame.value.is_array()) {
        text = json_path::element(std::move(text), frame.value.size());
      } else if (frame.has_key) {
        text = json_path::member(std::move(text), frame.key);
      }
    }
    return text;
  }

  /// Returns the outer levels of the path, which are enough for a document that is too deep.
  std::string line_and_column_of_depth() const {
    constexpr std::size_t kLevels = 4;
    return path(std::min(kLevels, frames_.size())) + "…: ";
  }

  std::string line_and_column(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0: the first line
    return "line " + std::to_string(line) + ", column " +
           std::to_string(before.size() - line_start + 1);
  }

  /// Returns the library's message without its beginning, which repeats the position.
  static std::string reason(std::string_view what) {
    constexpr std::string_view kBefore = " - ";
    const std::size_t before = what.find(kBefore);
    if (before != std::string_view::npos) what.remove_prefix(before + kBefore.size());
    return printable(what, 160);
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t max_depth_;
  Json root_;
  std::vector<Frame> frames_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& name, const ReadLimits& limits) {
  const std::string shown = printable(name, 200);
  if (text.size() > limits.max_bytes) {
    throw InputError(shown + ": " + std::to_string(text.size()) + " bytes, more than the " +
                         std::to_string(limits.max_bytes) + " that are read",
                     need::LargerInput{});
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError(shown + ": empty; a JSON text is needed");
  }
  if (text.find('\0') != std::string_view::npos) {
    throw InputError(shown + ": holds a zero byte, so it is no JSON text; name another file");
  }
  TreeBuilder builder(shown, text, limits.max_depth);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace hios
