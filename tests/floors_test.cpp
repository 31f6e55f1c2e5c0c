// The house keeps its floors: an include points down only, and the doors to the outside world stay
// where they were put.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

// Which rooms each room may include.
const std::map<std::string, std::set<std::string>> kMaySee = {
    {"hios", {"hios"}},
    {"scheduler", {"scheduler", "hios"}},
    {"mpi", {"mpi", "hios"}},
    {"engine", {"engine", "mpi", "hios"}},
    {"cli", {"cli", "scheduler", "engine", "mpi", "hios"}},
};

struct Source {
  std::string room;
  std::string name;  // relative to the root
  std::string text;
};

std::vector<Source> sources() {
  std::vector<Source> found;
  const fs::path root = HIOS_SOURCE_DIR;
  for (const auto& [room, sees] : kMaySee) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh")
        continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      found.push_back({room, fs::relative(entry.path(), root).string(), text.str()});
    }
  }
  return found;
}

void for_each_match(const std::string& text, const std::regex& pattern,
                    const std::function<void(const std::smatch&)>& visit) {
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it)
    visit(*it);
}

TEST(Floors, IncludesPointDown) {
  const std::regex include("#include \"([a-z_]+)/");
  std::size_t seen = 0;
  for (const Source& source : sources()) {
    for_each_match(source.text, include, [&](const std::smatch& match) {
      ++seen;
      EXPECT_TRUE(kMaySee.at(source.room).count(match[1]))
          << source.name << " includes " << match[0];
    });
  }
  EXPECT_GT(seen, 100u) << "the test found no includes: has the tree moved?";
}

// Each of these words may stand only in files whose name begins with one of the places.
struct Door {
  const char* pattern;
  std::vector<std::string> places;
};

TEST(Floors, TheOutsideWorldEntersAtNamedDoors) {
  const std::vector<Door> doors = {
      {"#include <mpi\\.h>", {"mpi/"}},
      {"#include [<\"](oneapi/)?dnnl", {"engine/cpu/"}},
      {"#include <cud", {"engine/cuda/"}},
      {"std::(i|o)?fstream", {"hios/base/json_", "engine/measure/profiler", "engine/host/machine"}},
      {"\\bgetenv\\(", {"cli/", "mpi/messages/launcher"}},
      {"#include <boost/", {"cli/"}},
      {"steady_clock|system_clock", {"engine/run/timing.h", "hios/base/log.cpp", "mpi/"}},
  };
  for (const Source& source : sources()) {
    for (const Door& door : doors) {
      if (!std::regex_search(source.text, std::regex(door.pattern))) continue;
      bool allowed = false;
      for (const std::string& place : door.places)
        allowed = allowed || source.name.rfind(place, 0) == 0;
      EXPECT_TRUE(allowed) << source.name << " holds " << door.pattern;
    }
  }
}

}  // namespace
