#include "hios/flight/record_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "support/message.h"
#include "support/programs/temporary_folder.h"

namespace hios::flight {
namespace {

namespace fs = std::filesystem;

class RecordFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& text) const {
    write_record_file(folder_.path().string(), "r.json", text);
  }
  static unsigned mode_of(const std::string& name) {
    struct stat status {};
    EXPECT_EQ(::lstat(name.c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }

  void SetUp() override { umask_ = ::umask(022); }
  void TearDown() override { ::umask(umask_); }

  test::TemporaryFolder folder_;

 private:
  mode_t umask_ = 0;
};

TEST_F(RecordFiles, ReplaceAnEarlierRecord) {
  write("first");
  write("second");
  EXPECT_EQ(test::content_of(path("r.json")), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "no file is left";
}

// In a folder like /tmp, to which all may write: the sticky bit keeps others' files only.
TEST_F(RecordFiles, LeaveLinkedFilesAlone) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
  test::TemporaryFolder elsewhere;
  const std::string linked = elsewhere.put("private", "private").string();
  ASSERT_EQ(::chmod(linked.c_str(), 0622), 0);
  const std::string temporary = ".hios-" + std::to_string(::getpid()) + "-0";
  fs::create_symlink(linked, path(temporary));
  for (const bool hard : {false, true}) {
    hard ? fs::create_hard_link(linked, path("r.json"))
         : fs::create_symlink(linked, path("r.json"));
    write("record");
    EXPECT_EQ(test::content_of(linked), "private");
    EXPECT_EQ(test::content_of(path("r.json")), "record");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("r.json"))));
    EXPECT_EQ(mode_of(path("r.json")) & (hard ? 0u : 022u), 0u) << "the linked file's permissions";
    fs::remove(path("r.json"));
  }
  EXPECT_EQ(mode_of(linked), 0622u);
}

TEST_F(RecordFiles, ReplaceNoOtherUsersFile) {
  // Without root's permission to give a file away, one of root's is there.
  std::string folder = "/etc", name = "passwd";
  if (::geteuid() == 0) {
    folder = folder_.path().string();
    name = "r.json";
    folder_.put(name, "theirs");
    ASSERT_EQ(::chown(path(name).c_str(), 12345, 12345), 0);
  }
  const std::string before = test::content_of(fs::path(folder) / name);
  EXPECT_NE(test::message_of([&] {
              write_record_file(folder, name, "ours");
            }).find(name + ": belongs to another user, and is not replaced"),
            std::string::npos);
  EXPECT_EQ(test::content_of(fs::path(folder) / name), before);
}

TEST_F(RecordFiles, ReplaceNothingButFilesAndLinks) {
  fs::create_directory(path("r.json"));
  EXPECT_THROW(write("record"), InputError);
  EXPECT_TRUE(fs::is_directory(path("r.json")));
}

TEST_F(RecordFiles, AnOwnFolderIsMadeForItsUserAlone) {
  make_own_folder(path("a/b/hios"));
  make_own_folder(path("a/b/hios"));
  for (const char* made : {"a", "a/b", "a/b/hios"})
    EXPECT_EQ(mode_of(path(made)) & 0777u, 0700u) << made;
}

TEST_F(RecordFiles, AnOwnFolderIsNobodyElses) {
  fs::create_directory(path("shared"));
  for (const unsigned mode : {01777u, 0770u, 0702u}) {
    ASSERT_EQ(::chmod(path("shared").c_str(), mode), 0);
    EXPECT_EQ(test::message_of([&] { make_own_folder(path("shared")); }),
              path("shared") + ": others may write there, too");
  }
  folder_.put("file", "");
  EXPECT_THROW(make_own_folder(path("file/hios")), InputError);
  fs::create_directory_symlink(path("own"), path("link"));
  make_own_folder(path("own"));
  EXPECT_THROW(make_own_folder(path("link")), InputError);
  const std::string theirs = ::geteuid() == 0 ? path("theirs") : "/etc";
  if (::geteuid() == 0) {
    fs::create_directory(theirs);
    ASSERT_EQ(::chown(theirs.c_str(), 12345, 12345), 0);
  }
  EXPECT_EQ(test::message_of([&] { make_own_folder(theirs); }),
            theirs + ": belongs to another user");
}

}  // namespace
}  // namespace hios::flight
