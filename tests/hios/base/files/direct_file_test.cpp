#include "hios/base/files/direct_file.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

constexpr std::size_t kPage = DirectFile::kAlignment;

struct FreePages {
  void operator()(std::byte* pages) const { std::free(pages); }
};

class DirectFileTest : public testing::Test {
 protected:
  std::filesystem::path put(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
    return folder_.put("f", bytes);
  }
  std::string read(const DirectFile& file, Bytes offset, Bytes needed) const {
    file.read(pages_.get(), offset, needed, kRoom);
    return std::string(reinterpret_cast<const char*>(pages_.get()), needed);
  }

  static constexpr Bytes kRoom = 4 * kPage;
  std::unique_ptr<std::byte, FreePages> pages_{
      static_cast<std::byte*>(std::aligned_alloc(kPage, kRoom))};
  test::TemporaryFolder folder_;
};

TEST_F(DirectFileTest, ReadsFromAnyPageToTheLastByte) {
  const auto path = put(3 * kPage + 5);
  const std::string all = test::content_of(path);
  const DirectFile file(path);
  EXPECT_EQ(file.size_bytes(), all.size());
  EXPECT_EQ(read(file, 0, 10), all.substr(0, 10));
  EXPECT_EQ(read(file, kPage, 2 * kPage + 5), all.substr(kPage));
  EXPECT_EQ(read(file, 3 * kPage, 5), all.substr(3 * kPage));
}

TEST_F(DirectFileTest, AFileThatShrinksIsNamedWithTheByte) {
  const auto path = put(3 * kPage);
  const DirectFile file(path);
  std::filesystem::resize_file(path, kPage + 7);
  test::expect_error<RunError>([&] { read(file, 0, 2 * kPage); },
                               {"f: ends at byte ", ", and had 12288 bytes when the run began"});
  test::expect_error<RunError>([&] { read(file, 2 * kPage, 1); }, {"f: ends at byte 8192"});
  EXPECT_EQ(read(file, kPage, 7).size(), 7u);
}

TEST_F(DirectFileTest, OtherThanFilesAreRefused) {
  test::expect_error([&] { DirectFile(folder_ / "none"); }, {"none: cannot be read: "});
  test::expect_error([&] { DirectFile("/dev/zero"); }, {"/dev/zero: is no regular file"});
}

// Systems differ in what they drop, but each reads a page into its cache.
TEST_F(DirectFileTest, CachedBytesAreThoseThatWereRead) {
  const auto path = put(2 * kPage + 1);
  const DirectFile file(path);
  file.drop_cached();
  bool all = false;
  for (int i = 0; i < 20 && !all; ++i) {  // the system may drop pages at any time
    static_cast<void>(test::content_of(path));
    all = file.cached_bytes() == 2 * kPage + 1;
  }
  EXPECT_TRUE(all);
  EXPECT_EQ(DirectFile(put(0)).cached_bytes(), 0u);
}

TEST_F(DirectFileTest, AFileInMemoryIsNotReadDirectly) {
  if (!std::filesystem::is_directory("/dev/shm")) GTEST_SKIP() << "no /dev/shm";
  const std::string file = "/dev/shm/hios-direct-file-test-" + std::to_string(::getpid());
  std::ofstream(file) << "bytes";
  const bool direct = DirectFile(file).direct();
  std::filesystem::remove(file);
  EXPECT_FALSE(direct);
}

}  // namespace
}  // namespace hios
