#include "hios/base/files/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "hios/base/files/file_lock.h"
#include "hios/base/json/json_io.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::expect_error;
using test::TemporaryFolder;

void make_old(const fs::path& file, std::time_t seconds) {
  const timespec then = {std::time(nullptr) - seconds, 0};
  const timespec both[] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), both, 0), 0);
}

TEST(OutputFile, RemovesFilesOfKilledProcesses) {
  const TemporaryFolder folder;
  const fs::path old = folder.put(".hios-4711-0", "half"), fresh = folder.put(".hios-4711-1", "ha");
  const fs::path other = folder.put(".hios-notes", "mine"), held = folder.put(".hios-1-0", "half");
  for (const fs::path& file : {old, other, held}) make_old(file, 3600);
  const Descriptor writer(::open(held.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
  write_text(folder / "out.json", "x", Existing::kRefuse);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "its writer may be about to lock it";
  EXPECT_TRUE(fs::exists(other)) << "no name of ours";
  EXPECT_TRUE(fs::exists(held)) << "its writer lives";
}

TEST(OutputFile, HoldsALockWhileItIsWritten) {
  const TemporaryFolder folder;
  const TemporaryFile writing(folder.path());
  const fs::path file = fs::directory_iterator(folder.path())->path();
  make_old(file, 3600);
  remove_abandoned(folder.path());
  EXPECT_TRUE(fs::exists(file));
}

TEST(OutputFile, KeepsThePermissionsOfWhatItReplaces) {
  const TemporaryFolder folder;
  const fs::path file = folder.put("secret.json", "old");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  write_text(file, "new", Existing::kReplace);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(OutputFile, NeverReplacesAStream) {
  const TemporaryFolder folder;
  const fs::path file = folder.put("table.txt", "shown so far");
  const Descriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  const fs::path stream = "/proc/self/fd/" + std::to_string(open.get());
  fs::create_symlink(stream, folder / "link");
  for (const fs::path& name : {stream, folder / "link"}) {
    for (const Existing existing : {Existing::kRefuse, Existing::kReplace})
      expect_error([&] { write_text(name, "x", existing); }, {"is not a regular file"});
  }
  EXPECT_EQ(content_of(file), "shown so far");
}

TEST(OutputFile, NamesALinkThatLeadsNowhere) {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  fs::create_symlink("nowhere", folder / "c");
  expect_error([&] { write_text(folder / "a", "x", Existing::kReplace); },
               {"a: is a link that leads nowhere", "Too many levels"});
  expect_error([&] { write_text(folder / "c", "x", Existing::kReplace); },
               {"c: is a link that leads nowhere", "No such file"});
  fs::create_directory(folder / "d");
  fs::create_symlink("d", folder / "e");
  for (const Existing existing : {Existing::kRefuse, Existing::kReplace})
    expect_error([&] { write_text(folder / "e", "x", existing); }, {"e: is a directory"});
}

TEST(OutputFile, UnderstandsFoldersAsTheSystemDoes) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "real/inner");
  fs::create_directory_symlink("real/inner", folder / "link");
  write_text(folder / "link/../out.json", "x", Existing::kRefuse);
  EXPECT_EQ(content_of(folder / "real/out.json"), "x");
  expect_error([&] { write_text(folder / "none/../out.json", "x", Existing::kRefuse); },
               {"there is no folder"});
}

TEST(UpdateJson, LosesNoUpdateOfMany) {
  const TemporaryFolder folder;
  const fs::path file = folder / "list.json";
  constexpr int kWriters = 6, kRounds = 8;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int round = 0; round < kRounds; ++round) {
        update_json(file, {}, [&](const Json* now) {
          Json list = now ? *now : Json::array();
          list.push_back(writer * kRounds + round);
          return list;
        });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::vector<int> all = read_json(file);
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kWriters * kRounds));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(UpdateJson, UpdatesTheFileThatALinkPointsTo) {
  const TemporaryFolder folder;
  folder.put("real.json", "[1]");
  fs::create_symlink("real.json", folder / "link.json");
  update_json(folder / "link.json", {}, [](const Json* now) {
    Json list = *now;
    list.push_back(2);
    return list;
  });
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(read_json(folder / "real.json").dump(), "[1,2]");
}

TEST(FileLock, WaitsForItsLimitAndThenRefuses) {
  const TemporaryFolder folder;
  const fs::path file = folder.put("held.json", "[]");
  const FileLock held(file);
  EXPECT_TRUE(held.found());
  expect_error<RunError>([&] { const FileLock second(file, 0.1); },
                         {"held.json: another program has been writing it"});
  EXPECT_FALSE(FileLock(folder / "none.json").found());
}

TEST(FileLock, TurnsToTheFileThatHasTheNameNow) {
  const TemporaryFolder folder;
  const fs::path file = folder.put("out.json", "old");
  std::atomic<bool> got = false;
  std::thread second;
  {
    const FileLock first(file);
    second = std::thread([&] {
      const FileLock lock(file);
      EXPECT_EQ(content_of(file), "new");
      got = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(got);
    fs::rename(folder.put("other", "new"), file);
  }
  second.join();
  EXPECT_TRUE(got);
}

}  // namespace
}  // namespace hios
