#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// tests/corpus: files that must be read or refused.
namespace hios::test {

/// A file that nobody may take, and what is said of it.
struct BadFile {
  std::string name;     ///< "graph_cycle.json"
  std::string kind;     ///< its format, or "run": a schedule of model_ok.json, for those who run it
  std::string rule;     ///< that it breaks, if it can be read: a schedule
  std::string message;  ///< part of the message
  std::string content;
};

std::filesystem::path corpus();

/// Those in the folder (expected.json), and those that edits.json makes of good ones. An edit
/// replaces the first occurrence of `replace`, or without one the whole file, by `with`, the
/// bytes of `hex`, `fill` so many `times`, and `then`; with `cut_after` nothing follows. Or it
/// appends, ends the file before a text, drops the last bytes, or writes it as UTF-16.
std::vector<BadFile> bad_files();

/// Returns the inputs of a format that fuzzing found (tests/corpus/found): each once did harm.
std::vector<std::filesystem::path> found_files(const std::string& format);

}  // namespace hios::test
