// Includes point down only, between floors and between the rooms of a floor; rooms are small;
// libraries name no flag and no command; the outside world enters at named doors.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/tree.h"

namespace {

namespace fs = std::filesystem;
using hios::test::for_each_match;
using hios::test::sources;
using hios::test::text_of;
using hios::test::tree;
using Source = hios::test::TreeFile;

/// A floor's rooms from the ground up, by folder inside the floor ("" is the floor's own folder).
/// A room may include itself and every room of a lower storey; rooms of one storey do not see each
/// other. A folder that is not named here belongs to the nearest room above it. A name that ends in
/// ".h" is that header and its source: a room of their own.
using Storeys = std::vector<std::vector<std::string>>;

struct Floor {
  std::set<std::string> below;  // the floors that it may include
  Storeys storeys;
};

const std::map<std::string, Floor> kFloors = {
    {"hios",
     {{},
      {{"base"},
       {"base/numbers/half.h"},
       {"base/files"},
       {"base/json"},
       {"base/numbers"},
       {"flight"},
       {"platform"},
       {"model"},
       {"onnx"},
       {"onnx/operators", "onnx/passes"},
       {"onnx/read", "onnx/write"},
       {"graph"},
       {"profile"},
       {"schedule"},
       {"evaluate"},
       {"discovery", "report"}}}},
    {"scheduler",
     {{"hios"},
      {{"deadline.h", "problem.h"},
       {"structures"},
       {"list"},
       {"bounds"},
       {"scheduler.h"},
       {"algorithms"},
       {"best"},
       {"milp"},
       {"split"},
       {"batches"},
       {"cuts"},
       {"pipeline"},
       {"option_specs.h"},
       {"cold"},
       {"registry.h"},
       {"compare"}}}},
    {"mpi", {{"hios"}, {{""}, {"messages"}, {"session"}, {"routes"}, {"device"}, {"shared"}}}},
    {"engine",
     {{"mpi", "hios"},
      {{"discovery", "host"},
       {"backend"},
       {"reference", "cpu/kernels", "cuda/kernels"},
       {"cpu", "cuda/device"},
       {"cpu/convolutions", "cpu/single", "cuda/operators"},
       {"cuda"},
       {""},
       {"cold"},
       {"emulated"},
       {"run"},
       {"measure"},
       {"job"}}}},
    {"cli",
     {{"scheduler", "engine", "mpi", "hios"},
      {{"process"}, {"flags"}, {""}, {"profile", "schedule", "run"}}}},
};

/// A backend is seen by itself and by the table of backends (engine/backends.h), by nobody else.
const std::vector<std::string> kBackends = {"reference", "cpu", "cuda"};

struct Location {
  std::string floor;
  std::string room;
  std::size_t storey = 0;
  bool known = false;
};

/// Where a file lives, by its name relative to the root.
Location location_of(const std::string& name) {
  const std::string floor = name.substr(0, name.find('/'));
  const auto found = kFloors.find(floor);
  if (found == kFloors.end()) return {};
  const fs::path file = fs::path(name.substr(std::min(name.size(), floor.size() + 1)));
  const std::string folder = file.parent_path(), header = fs::path(file).replace_extension(".h");
  Location location{floor, "", 0, false};
  for (std::size_t storey = 0; storey < found->second.storeys.size(); ++storey) {
    for (const std::string& room : found->second.storeys[storey]) {
      const bool inside =
          folder == room || header == room || (!room.empty() && folder.starts_with(room + "/"));
      if (inside && (!location.known || room.size() > location.room.size()))
        location = {floor, room, storey, true};
    }
  }
  return location;
}

std::string backend_of(const Location& location) {
  const std::string folder = location.room.substr(0, location.room.find('/'));
  const bool is_one = std::find(kBackends.begin(), kBackends.end(), folder) != kBackends.end();
  return location.floor == "engine" && is_one ? folder : "";
}

/// Returns true if a room may see a backend's: the backend itself, and the table of backends.
bool sees_backend(const Location& from, const std::string& backend) {
  return from.floor == "engine" && (from.room.empty() || backend_of(from) == backend);
}

bool may_include(const Location& from, const Location& to) {
  if (from.floor == to.floor && from.room == to.room) return true;
  const std::string backend = backend_of(to);
  if (!backend.empty() && !sees_backend(from, backend)) return false;
  if (from.floor != to.floor) return kFloors.at(from.floor).below.count(to.floor) > 0;
  return to.storey < from.storey;
}

// The texts of a source for people: its comments, and its string literals without their quotes.
struct Words {
  std::vector<std::string> comments;
  std::vector<std::string> literals;
};

Words words_of(const std::string& text) {
  // In this order: a raw literal, a literal, a character, a comment of a line, one of several.
  static const std::regex token(
      "R\"\\(([\\s\\S]*?)\\)\"|\"((?:[^\"\\\\\n]|\\\\.)*)\"|'(?:[^'\\\\\n]|\\\\.)+'|"
      "(//[^\n]*)|(/\\*[\\s\\S]*?\\*/)");
  Words words;
  for_each_match(text, token, [&](const std::smatch& match) {
    for (const int literal : {1, 2})
      if (match[literal].matched) words.literals.push_back(match[literal]);
    for (const int comment : {3, 4})
      if (match[comment].matched) words.comments.push_back(match[comment]);
  });
  return words;
}

TEST(Floors, EveryFileLivesInARoom) {
  for (const Source& source : sources())
    EXPECT_TRUE(location_of(source.name).known) << source.name << " lives in no room of its floor";
  EXPECT_GT(sources().size(), 200u) << "the test found few sources: has the tree moved?";
}

// A room is read at a glance.
TEST(Floors, ARoomHoldsAtMostTwentyFiles) {
  std::map<std::string, int> files;
  for (const Source& source : sources()) ++files[fs::path(source.name).parent_path()];
  for (const auto& [folder, count] : files)
    EXPECT_LE(count, 20) << folder << " holds too many files";
}

TEST(Floors, IncludesPointDown) {
  const fs::path root = HIOS_SOURCE_DIR;
  std::size_t seen = 0;
  for (const Source& source : sources()) {
    for (const std::string& included : source.includes()) {
      ++seen;
      EXPECT_TRUE(fs::exists(root / included))
          << source.name << " includes " << included << ", which is no path from the root";
      EXPECT_TRUE(location_of(included).known &&
                  may_include(location_of(source.name), location_of(included)))
          << source.name << " includes " << included;
    }
  }
  EXPECT_GT(seen, 500u) << "the test found few includes: has the tree moved?";
}

TEST(Floors, NobodyButTheTableOfBackendsSeesABackend) {
  const auto may = [](const char* from, const char* included) {
    return may_include(location_of(from), location_of(included));
  };
  EXPECT_TRUE(may("engine/backends.cpp", "engine/cpu/streams.h"));
  EXPECT_TRUE(may("engine/cpu/backend.cpp", "engine/cpu/streams.h"));
  EXPECT_FALSE(may("engine/reference/backend.cpp", "engine/cpu/streams.h"));
  EXPECT_FALSE(may("engine/run/executor.cpp", "engine/cpu/streams.h"));
  EXPECT_FALSE(may("cli/flags/rank_flags.cpp", "engine/cpu/streams.h")) << "from another floor";
  EXPECT_TRUE(may("cli/flags/rank_flags.cpp", "engine/backends.h"));
}

TEST(Floors, AFileMayBeARoom) {
  const auto may = [](const char* from, const char* included) {
    return may_include(location_of(from), location_of(included));
  };
  EXPECT_TRUE(may("scheduler/list/placement.h", "scheduler/deadline.h"));
  EXPECT_FALSE(may("scheduler/list/placement.h", "scheduler/scheduler.h"));
  EXPECT_TRUE(may("scheduler/best/best.h", "scheduler/scheduler.h"));
  EXPECT_TRUE(may("scheduler/scheduler.cpp", "scheduler/scheduler.h"));
  EXPECT_FALSE(may("scheduler/best/best.h", "scheduler/registry.h"));
  EXPECT_FALSE(may("scheduler/deadline.cpp", "scheduler/scheduler.h"));
  EXPECT_FALSE(location_of("scheduler/another.h").known) << "a file without a room";
}

// The Python module is a user of the libraries, without programs and ranks; its Python has the
// flags.
TEST(Floors, ThePythonModuleIncludesGraphsAndSchedulersAlone) {
  int files = 0;
  for (const Source& source : tree()) {
    if (!source.is_code() || !source.name.starts_with("python/")) continue;
    EXPECT_TRUE(source.name.starts_with("python/module/")) << source.name;
    ++files;
    for (const std::string& included : source.includes()) {
      EXPECT_TRUE(included.starts_with("hios/") || included.starts_with("scheduler/") ||
                  included.starts_with("python/module/"))
          << source.name << " includes " << included;
      EXPECT_TRUE(fs::exists(fs::path(HIOS_SOURCE_DIR) / included))
          << source.name << ": " << included;
    }
  }
  EXPECT_GT(files, 10) << "the test found few sources: has the tree moved?";
  EXPECT_LE(files, 20) << "python/module holds too many files";
}

// Libraries state facts; only programs name flags and commands. The names of file formats
// ("hios-profile", in a comment `hios-profile` version 1) are facts.
TEST(Floors, LibrariesNameNoFlagAndNoCommand) {
  const std::regex flag("--([a-z]|$)|-D[A-Z]");
  const std::regex command("\\bmpirun\\b|\\bcmake\\b|\\bhios-(profile|schedule|run)\\b");
  const std::regex format_literal("hios-(profile|schedule)");
  const std::regex format_comment("`hios-(profile|schedule)` version");
  for (const Source& source : sources()) {
    if (location_of(source.name).floor == "cli") continue;
    const Words words = words_of(source.text);
    for (const std::string& literal : words.literals) {
      EXPECT_FALSE(std::regex_search(literal, flag)) << source.name << " says \"" << literal << '"';
      EXPECT_FALSE(!std::regex_match(literal, format_literal) &&
                   std::regex_search(literal, command))
          << source.name << " says \"" << literal << '"';
    }
    for (const std::string& comment : words.comments) {
      const std::string plain = std::regex_replace(comment, format_comment, "");
      EXPECT_FALSE(std::regex_search(plain, flag) || std::regex_search(plain, command))
          << source.name << " has the comment " << comment;
    }
  }
}

// Sources cite what a reader can find: authors, title, section; nothing that only we have.
TEST(Floors, CitationsCanBeFound) {
  const std::regex private_name(
      "\\bpaper 00[0-9]|\\bINTER"
      "FACES\\b|\\bFA"
      "CTS\\b");
  for (const Source& file : tree()) {
    for_each_match(file.text, private_name, [&](const std::smatch& match) {
      ADD_FAILURE() << file.name << " cites " << match.str();
    });
  }
}

// The pattern may match only in files whose name begins with a door; each door has such a file.
struct WayOut {
  const char* pattern;
  std::vector<std::string> doors;
};

TEST(Floors, TheOutsideWorldEntersAtNamedDoors) {
  const std::vector<WayOut> ways = {
      {"#include <mpi\\.h>", {"mpi/messages/gpu_support.cpp", "mpi/messages/handles.h"}},
      {"#include [<\"](oneapi/)?dnnl", {"engine/cpu/dnnl_handles.h"}},
      {"#include <cud", {"engine/cuda/device/handles.h", "engine/cuda/kernels/"}},
      {"std::(i|o)?fstream", {"engine/host/", "mpi/messages/launcher.cpp"}},
      {"#include <fcntl\\.h>|\\bO_(RD|WR)|\\bfopen\\(",
       {"cli/process/prepare.cpp", "mpi/shared/shared_memory.cpp", "engine/host/disturbance.cpp",
        "engine/measure/routes/disk_file.cpp", "hios/base/files/", "hios/flight/",
        "hios/onnx/model_file.cpp"}},
      {"\\bgetenv\\(",
       {"cli/flags/flags.cpp", "cli/flags/flight_flags.cpp", "cli/flags/rank_flags.cpp",
        "cli/process/invocation.cpp", "cli/process/terminal.cpp", "mpi/messages/launcher.cpp"}},
      {"#include <boost/", {"cli/flags/", "cli/run/", "cli/schedule/"}},
      {"#include <hwloc", {"engine/discovery/hwloc_machine.cpp"}},
      {"#include <(onnx|google)/", {"hios/onnx/proto.h", "hios/onnx/parse.cpp"}},
      {"steady_clock|system_clock", {"engine/host/clock.h", "mpi/device/route_probe.cpp"}},
  };
  for (const WayOut& way : ways) {
    std::set<std::string> used;
    for (const Source& source : sources()) {
      if (!std::regex_search(source.text, std::regex(way.pattern))) continue;
      const auto door = std::ranges::find_if(
          way.doors, [&](const std::string& name) { return source.name.starts_with(name); });
      EXPECT_NE(door, way.doors.end()) << source.name << " holds " << way.pattern;
      if (door != way.doors.end()) used.insert(*door);
    }
    for (const std::string& door : way.doors)
      EXPECT_TRUE(used.contains(door)) << "nothing at " << door << " holds " << way.pattern;
  }
}

}  // namespace
