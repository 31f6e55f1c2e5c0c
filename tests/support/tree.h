// The files of this repository that people read: for tests of its rules.
#pragma once

#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace hios::test {

struct TreeFile {
  std::string name;  // relative to the root of the repository
  std::string text;

  /// The name's extension with its dot; "" if it has none.
  std::string extension() const;
  bool is_header() const;  // of C++ or CUDA
  bool is_code() const;    // a header, or a source of C++ or CUDA
  std::vector<std::string_view> lines() const;
  std::vector<std::string> includes() const;  // those by quotes: files of this repository
};

/// All sources, scripts, pages and CMake files by name, read once.
const std::vector<TreeFile>& tree();

/// The folders of the floors, from the ground up.
inline constexpr const char* kFloors[] = {"hios", "scheduler", "mpi", "engine", "cli"};

/// All code of the floors, by name.
const std::vector<TreeFile>& sources();

/// Calls `visit` for each match of the pattern, in their order.
void for_each_match(const std::string& text, const std::regex& pattern,
                    const std::function<void(const std::smatch&)>& visit);

/// The text of one file by its name relative to the root; "" if it cannot be read.
std::string text_of(const std::string& name);

}  // namespace hios::test
