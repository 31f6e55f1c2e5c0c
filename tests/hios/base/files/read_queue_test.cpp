#include "hios/base/files/read_queue.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hios/base/files/direct_file.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

class ReadQueueTest : public testing::Test {
 protected:
  ReadQueueTest() : queue_(ReadQueue::open(4)) {
    for (std::size_t i = 0; i < 60'000; ++i) content_ += static_cast<char>(i * 31 / 7);
  }
  void SetUp() override {
    if (!queue_) GTEST_SKIP() << "the system has no queue of reads, or forbids it";
  }
  std::string read(const DirectFile& file, Bytes offset, Bytes size) {
    pages_.assign(size + 4096, std::byte{0});
    void* to = pages_.data();
    std::size_t room = pages_.size();
    std::align(4096, size, to, room);
    const std::array place{iovec{to, size}};
    queue_->add(file.descriptor(), place, offset, 7);
    const ReadQueue::Ended ended = queue_->wait();
    EXPECT_EQ(ended.tag, 7u);
    result_ = ended.result;
    return std::string(static_cast<const char*>(to),
                       ended.result > 0 ? static_cast<std::size_t>(ended.result) : 0);
  }

  test::TemporaryFolder folder_;
  std::string content_;
  std::vector<std::byte> pages_;
  std::unique_ptr<ReadQueue> queue_;
  ssize_t result_ = 0;
};

TEST_F(ReadQueueTest, ReadsSeveralFilesManyTimesMoreThanItHasEntries) {
  const DirectFile one(folder_.put("one", content_)), two(folder_.put("two", content_ + "end"));
  for (std::size_t i = 0; i < 2000; ++i) {
    const Bytes offset = i % 14 * 4096;
    ASSERT_EQ(read(i % 3 == 0 ? one : two, offset, 4096),
              ((i % 3 == 0 ? content_ : content_ + "end").substr(offset, 4096)))
        << i;
  }
}

TEST_F(ReadQueueTest, SeveralReadsEndInAnyOrderEachOnce) {
  const DirectFile file(folder_.put("f", content_));
  pages_.resize(5 * 4096);
  void* to = pages_.data();
  std::size_t room = pages_.size();
  std::align(4096, 4 * 4096, to, room);
  std::array<std::array<iovec, 2>, 2> places;
  std::set<std::uint64_t> ended;
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::byte* const memory = static_cast<std::byte*>(to) + i * 8192;
    places[i] = {iovec{memory + 4096, 4096}, iovec{memory, 4096}};
    queue_->add(file.descriptor(), places[i], i * 8192, i);
  }
  queue_->start();
  EXPECT_EQ(queue_->under_way(), 2u);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ReadQueue::Ended read = queue_->wait();
    EXPECT_EQ(read.result, 8192);
    ended.insert(read.tag);
    const auto* const memory = static_cast<const char*>(to) + read.tag * 8192;
    EXPECT_EQ(std::string(memory + 4096, 4096), content_.substr(read.tag * 8192, 4096));
    EXPECT_EQ(std::string(memory, 4096), content_.substr(read.tag * 8192 + 4096, 4096));
  }
  EXPECT_EQ(ended, (std::set<std::uint64_t>{0, 1}));
  EXPECT_EQ(queue_->under_way(), 0u);
}

TEST_F(ReadQueueTest, AReadEndsWithTheFile) {
  const DirectFile file(folder_.put("f", content_));
  EXPECT_EQ(read(file, 56 * 1024, 8192), content_.substr(56 * 1024));
  EXPECT_EQ(read(file, 64 * 1024, 4096), "");
  EXPECT_EQ(result_, 0);
}

TEST_F(ReadQueueTest, AFailureIsAnAnswer) {
  const std::array place{iovec{content_.data(), 1}};
  queue_->add(-1, place, 0, 3);
  const ReadQueue::Ended ended = queue_->wait();
  EXPECT_EQ(ended.tag, 3u);
  EXPECT_EQ(ended.result, -EBADF);
}

// The memory of a read may end right after the queue.
TEST_F(ReadQueueTest, ItsEndWaitsForReadsUnderWay) {
  const DirectFile file(folder_.put("f", content_));
  for (int i = 0; i < 50; ++i) {
    const auto pages = std::make_unique<std::array<std::byte, 5 * 4096>>();
    void* to = pages->data();
    std::size_t room = pages->size();
    std::align(4096, 4 * 4096, to, room);
    const std::array place{iovec{to, 4 * 4096}};
    const std::unique_ptr<ReadQueue> queue = ReadQueue::open(2);
    ASSERT_TRUE(queue);
    queue->add(file.descriptor(), place, 0, 0);
    if (i % 2 == 0) queue->start();
  }
}

}  // namespace
}  // namespace hios
