// Headers form no cycle, stand alone, and those that are installed include only such; a source
// belongs to a header, and constants of sources that may be joined have names of their own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/tree.h"

namespace {

namespace fs = std::filesystem;
using hios::test::for_each_match;
using hios::test::sources;
using hios::test::text_of;
using hios::test::TreeFile;

TEST(Headers, FormNoCycle) {
  std::map<std::string, std::vector<std::string>> below;
  for (const TreeFile& source : sources())
    if (source.is_header()) below[source.name] = source.includes();
  enum class Visit { kNew, kOpen, kDone };
  std::map<std::string, Visit> visited;
  const std::function<void(const std::string&, const std::string&)> visit =
      [&](const std::string& header, const std::string& from) {
        Visit& state = visited[header];
        EXPECT_NE(state, Visit::kOpen) << from << " and " << header << " include each other";
        if (state != Visit::kNew) return;
        state = Visit::kOpen;
        for (const std::string& next : below[header]) visit(next, header);
        visited[header] = Visit::kDone;
      };
  for (const TreeFile& source : sources())
    if (source.is_header()) visit(source.name, source.name);
}

/// The names of the standard library that headers here use most, and where each comes from.
/// std::size_t is not among them: nearly every header of the library has it.
const std::vector<std::pair<std::string, std::string>> kNames = {
    {"array", "array"},
    {"atomic", "atomic"},
    {"byte", "cstddef"},
    {"deque", "deque"},
    {"function", "functional"},
    {"int64_t", "cstdint"},
    {"map", "map"},
    {"mutex", "mutex"},
    {"nullopt", "optional"},
    {"numeric_limits", "limits"},
    {"optional", "optional"},
    {"pair", "utility"},
    {"set", "set"},
    {"shared_ptr", "memory"},
    {"span", "span"},
    {"string", "string"},
    {"string_view", "string_view"},
    {"thread", "thread"},
    {"uint32_t", "cstdint"},
    {"uint64_t", "cstdint"},
    {"unique_ptr", "memory"},
    {"unordered_map", "unordered_map"},
    {"variant", "variant"},
    {"vector", "vector"},
    {"weak_ptr", "memory"},
};

/// The text of a header without its comments.
std::string code_of(const TreeFile& header) {
  std::string code;
  for (const std::string_view line : header.lines()) {
    code += line.substr(0, line.find("//"));
    code += '\n';
  }
  return code;
}

/// Returns true if `code` names std::`name`.
bool uses(std::string_view code, const std::string& name) {
  const std::string word = "std::" + name;
  for (std::size_t at = code.find(word); at != std::string_view::npos;
       at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool goes_on = end < code.size() &&
                         (std::isalnum(static_cast<unsigned char>(code[end])) || code[end] == '_');
    if (!goes_on) return true;
  }
  return false;
}

// The check of the package compiles each installed header alone, with precompiled headers of the
// standard library.
TEST(Headers, IncludeTheStandardHeadersThatTheyUse) {
  std::size_t seen = 0;
  for (const TreeFile& header : sources()) {
    if (!header.is_header()) continue;
    const std::string code = code_of(header);
    for (const auto& [name, from] : kNames) {
      if (!uses(code, name)) continue;
      ++seen;
      EXPECT_NE(code.find("#include <" + from + ">"), std::string::npos)
          << header.name << " uses std::" << name << ": include <" << from << ">";
    }
  }
  EXPECT_GT(seen, 500u) << "the test found few names: has the tree moved?";
}

// The library's templates took half of the time to compile sources that never touch JSON: headers
// need only its declarations, but for the one whose templates convert values.
TEST(Headers, LeaveTheJsonLibraryToSources) {
  std::set<std::string> including;
  for (const TreeFile& header : sources()) {
    if (!header.is_header()) continue;
    if (code_of(header).find("#include <nlohmann/json.hpp>") != std::string::npos)
      including.insert(header.name);
  }
  EXPECT_EQ(including, std::set<std::string>{"mpi/exchange.h"});
}

// Headers that users of the installed libraries include must be installed: a header that
// CMakeLists.txt lists under HEADERS includes only such headers.
TEST(Headers, PublicOnesIncludePublicOnes) {
  const fs::path root = HIOS_SOURCE_DIR;
  std::set<std::string> installed;
  for (const std::string floor : hios::test::kFloors) {
    const std::string list = text_of(floor + "/CMakeLists.txt");
    std::smatch headers;
    ASSERT_TRUE(std::regex_search(list, headers, std::regex("HEADERS\\s([^)]*?)\\sSOURCES\\s")))
        << floor << "/CMakeLists.txt lists no headers";
    for_each_match(headers[1], std::regex("[^\\s]+"),
                   [&](const std::smatch& name) { installed.insert(floor + "/" + name.str()); });
  }
  EXPECT_GT(installed.size(), 50u);
  for (const std::string& name : installed) {
    EXPECT_TRUE(fs::exists(root / name)) << name << " is listed and not there";
    for (const std::string& included : TreeFile{name, text_of(name)}.includes()) {
      EXPECT_TRUE(installed.count(included))
          << name << " includes " << included << ": list that in its floor's CMakeLists.txt too";
    }
  }
}

// A source has a header of its name, or a header of its folder or one above names it (a class in
// several sources), or its first line names that header. A program's main.cpp has none.
TEST(Headers, EverySourceBelongsToOne) {
  const fs::path root = HIOS_SOURCE_DIR;
  for (const TreeFile& source : sources()) {
    if (source.is_header()) continue;
    if (source.name.starts_with("cli/") && source.name.ends_with("/main.cpp")) continue;
    fs::path twin = root / source.name;
    if (fs::exists(twin.replace_extension(".h")) || fs::exists(twin.replace_extension(".cuh")))
      continue;
    const fs::path file = fs::path(source.name).filename(), folder = twin.parent_path();
    const std::string first = source.text.substr(0, source.text.find('\n'));
    bool named = std::ranges::any_of(sources(), [&](const TreeFile& header) {
      const std::string above = fs::path(header.name).parent_path().string() + "/";
      return header.is_header() && source.name.starts_with(above) &&
             header.text.find(file.string()) != std::string::npos;
    });
    if (first.starts_with("//")) {
      for_each_match(first, std::regex("[A-Za-z0-9_/]+\\.(h|cuh)\\b"), [&](const std::smatch& m) {
        named = named || fs::exists(root / m.str()) || fs::exists(folder / m.str());
      });
    }
    EXPECT_TRUE(named) << source.name << " has no header of its name, and none that names it";
  }
}

// HIOS_UNITY=ALL joins any of them, and the next new source changes which.
TEST(Sources, GiveConstantsDifferentNames) {
  const std::regex constant(R"((?:^|\n)(?:inline )?constexpr [^;]*?(\bk[A-Z]\w*) =)");
  std::map<std::string, std::string> first;
  for (const TreeFile& source : sources()) {
    if (!source.name.starts_with("scheduler/")) continue;
    for_each_match(source.text, constant, [&](const std::smatch& match) {
      const auto [other, added] = first.emplace(match[1].str(), source.name);
      EXPECT_TRUE(added) << source.name << " and " << other->second << " both define "
                         << match[1].str();
    });
  }
  EXPECT_GT(first.size(), 50u) << "the test found few constants";
}

}  // namespace
