#include "hios/base/files/file_io.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::expect_error;
using test::expect_need;
using test::TemporaryFolder;

TEST(WriteText, WritesWholeFilesAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const fs::path file = folder / "out.json";
  write_text(file, "one", Existing::kRefuse);
  EXPECT_EQ(content_of(file), "one");
  expect_error([&] { write_text(file, "two", Existing::kRefuse); }, {"out.json: exists"});
  expect_need([&] { write_text(file, "two", Existing::kRefuse); }, need::Replacement{});
  EXPECT_EQ(content_of(file), "one");
  write_text(file, "three", Existing::kReplace);
  EXPECT_EQ(content_of(file), "three");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteText, FollowsTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_text(folder / "out.json", "x", Existing::kRefuse);
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "out.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(WriteText, WorksInTheCurrentFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  check_writable("plain.json", Existing::kRefuse);
  write_text("plain.json", "x", Existing::kRefuse);
  fs::current_path(before);
  EXPECT_EQ(content_of(folder / "plain.json"), "x");
}

TEST(WriteText, LetsOneOfManyThreadsWin) {
  const TemporaryFolder folder;
  const fs::path file = folder / "out.json";
  std::vector<std::thread> writers;
  std::vector<int> won(8, 0);
  for (std::size_t i = 0; i < won.size(); ++i) {
    writers.emplace_back([&, i] {
      try {
        write_text(file, std::string(100'000, static_cast<char>('a' + i)), Existing::kRefuse);
        won[i] = 1;
      } catch (const InputError&) {
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(std::count(won.begin(), won.end(), 1), 1);
  const auto winner = std::find(won.begin(), won.end(), 1) - won.begin();
  EXPECT_EQ(content_of(file), std::string(100'000, static_cast<char>('a' + winner)));
}

TEST(WriteText, ReplacesWhatALinkPointsToAndNothingThatIsNoFile) {
  const TemporaryFolder folder;
  const fs::path real = folder.put("real.json", "old");
  fs::create_symlink(real, folder / "link.json");
  expect_error([&] { write_text(folder / "link.json", "new", Existing::kRefuse); }, {"exists"});
  write_text(folder / "link.json", "new", Existing::kReplace);
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(content_of(real), "new");

  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error([&] { write_text(folder / "pipe", "x", Existing::kReplace); },
               {"not a regular file"});
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  expect_error([&] { write_text(folder / "dangling", "x", Existing::kReplace); },
               {"not a regular file"});
  expect_error([&] { check_writable(folder / "dangling", Existing::kRefuse); }, {"exists"});
}

TEST(CheckWritable, RefusesBeforeAnythingRuns) {
  const TemporaryFolder folder;
  check_writable(folder / "new.json", Existing::kRefuse);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const fs::path file = folder.put("old.json", "old");
  check_writable(file, Existing::kReplace);
  EXPECT_EQ(content_of(file), "old");
  expect_error([&] { check_writable(file, Existing::kRefuse); }, {"old.json: exists"});
  expect_need([&] { check_writable(file, Existing::kRefuse); }, need::Replacement{});
  expect_error([&] { check_writable(folder.path(), Existing::kReplace); }, {"is a directory"});
  expect_error([&] { check_writable("", Existing::kReplace); }, {"no file name"});
  expect_error([&] { check_writable(folder / "no/such/out.json", Existing::kRefuse); },
               {"out.json", "there is no folder"});
  expect_error([&] { check_writable(file / "out.json", Existing::kRefuse); }, {"out.json"});
}

TEST(CheckWritable, RefusesAFolderWithoutPermission) {
  // root may write anywhere that a disk takes it; the process file system takes nothing.
  expect_error([] { check_writable("/proc/hios.json", Existing::kRefuse); },
               {"/proc", "no file can be written there"});
}

}  // namespace
}  // namespace hios
