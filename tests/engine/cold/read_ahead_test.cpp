#include "engine/cold/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <list>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

/// By the system's queue (true), or by threads, as where there is none.
class ReadAheadTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !ReadQueue::open(1)) GTEST_SKIP() << "no queue of reads, or a forbidden one";
  }
  static ReadAhead::Options options(Bytes chunk_bytes, std::size_t depth) {
    return {.chunk_bytes = chunk_bytes,
            .depth = depth,
            .queue = GetParam() ? ReadQueue::open(static_cast<unsigned>(depth)) : nullptr};
  }
  ReadAheadTest() {
    content_.resize(700'001);
    for (std::size_t i = 0; i < content_.size(); ++i) content_[i] = static_cast<char>(i * 31 / 7);
    path_ = folder_.put("f", content_);
  }
  /// Copies all stretches in their order, each in pieces of at most so many bytes.
  void expect_right(ReadAhead& reader, const std::vector<Stretch>& stretches, Bytes piece) {
    for (const Stretch& stretch : stretches) {
      if (stretch.to) std::memset(stretch.to, 0, stretch.size_bytes);
    }
    reader.begin();
    for (const Stretch& stretch : stretches) {
      std::string copied(stretch.to ? 0 : stretch.size_bytes, '\0');
      std::byte* const to = stretch.to ? stretch.to : reinterpret_cast<std::byte*>(copied.data());
      for (Bytes at = 0; at < stretch.size_bytes; at += piece) {
        reader.copy(to + at, stretch.offset + at, std::min(piece, stretch.size_bytes - at));
      }
      const std::string_view expected(content_.data() + stretch.offset, stretch.size_bytes);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), reinterpret_cast<const char*>(to)))
          << stretch.offset;
    }
  }
  /// Gives a stretch memory, which may lie as the file does or one byte further.
  void give_memory(Stretch& stretch, bool in_step) {
    constexpr Bytes kPage = DirectFile::kAlignment;
    auto& memory = memory_.emplace_back(stretch.size_bytes + 2 * kPage + 1);
    const Bytes over = reinterpret_cast<std::uintptr_t>(memory.data()) % kPage;
    stretch.to = memory.data() + (kPage - over) + stretch.offset % kPage + (in_step ? 0 : 1);
  }

  test::TemporaryFolder folder_;
  std::string content_;
  std::filesystem::path path_;
  std::list<std::vector<std::byte>> memory_;
};

TEST_P(ReadAheadTest, RandomStretchesComeInTheirOrderInEveryIteration) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto draw = [&](std::size_t most) { return random() % (most + 1); };
  const DirectFile file(path_);
  for (int round = 0; round < 20; ++round) {
    std::vector<Stretch> stretches;
    Bytes end = draw(9000);
    for (std::size_t i = draw(12) + 1; i > 0; --i) {
      if (draw(3) == 0) end = draw(500'000);  // a jump, back or ahead
      const Bytes offset = end + (draw(1) == 0 ? 0 : draw(40'000));
      const Bytes size = draw(4) == 0 ? 0 : draw(draw(2) == 0 ? 300'000 : 60'000);
      if (offset + size > content_.size()) break;
      stretches.push_back({offset, size});
      if (draw(2) > 0) give_memory(stretches.back(), draw(3) > 0);
      end = offset + size;
    }
    ReadAhead reader(file, stretches, options(Bytes{4096} << draw(7), 1 + draw(4)));
    for (int iteration = 0; iteration < 3; ++iteration) {
      expect_right(reader, stretches, 1 + draw(50'000));
    }
  }
}

// No byte of these pages passes through copy(): they are there when it returns.
TEST_P(ReadAheadTest, WholePagesComeStraightToTheirMemory) {
  const DirectFile file(path_);
  std::vector<Stretch> stretches{{4096 * 3 + 5, 400'000}};
  give_memory(stretches[0], true);
  ReadAhead reader(file, stretches, options(65536, 2));
  for (const Bytes page : {std::size_t{4096 * 4}, std::size_t{4096 * 90}}) {
    std::memset(stretches[0].to, 0, stretches[0].size_bytes);
    reader.begin();
    std::vector<std::byte> elsewhere(stretches[0].size_bytes);
    reader.copy(elsewhere.data(), stretches[0].offset, stretches[0].size_bytes);
    const Bytes at = page - stretches[0].offset;
    EXPECT_EQ(std::memcmp(stretches[0].to + at, content_.data() + page, 4096), 0);
    EXPECT_EQ(std::ranges::count(std::span(elsewhere).subspan(at, 4096), std::byte{0}), 4096);
  }
}

TEST_P(ReadAheadTest, EndsWhileItReads) {
  const DirectFile file(path_);
  const std::vector<Stretch> all{{0, content_.size()}};
  for (int i = 0; i < 20; ++i) {
    ReadAhead reader(file, all, options(i % 3 == 0 ? 4096 : 65536, 3));
    const auto read = [&] {
      reader.begin();
      std::byte first;
      if (i % 2 == 0) reader.copy(&first, 0, 1);
    };
    if (i % 4 < 2) {
      read();
    } else {  // a lane's thread that failed has ended before its reader
      std::thread(read).join();
    }
  }
}

TEST_P(ReadAheadTest, AFileThatShrinksEndsTheCopy) {
  const DirectFile file(path_);
  ReadAhead reader(file, std::vector<Stretch>{{0, content_.size()}}, options(65536, 4));
  std::filesystem::resize_file(path_, 300'000);
  reader.begin();
  std::string copied(content_.size(), '\0');
  test::expect_error<RunError>(
      [&] { reader.copy(reinterpret_cast<std::byte*>(copied.data()), 0, copied.size()); },
      {"f: ends at byte ", "when the run began"});
}

// Small chunks by the thousand, and more bytes than are read at the same time.
TEST_P(ReadAheadTest, TwoReadersOfTwoFilesTakeTurns) {
  std::string content;
  while (content.size() < 9'000'000) content += content_;
  const DirectFile one(path_), two(folder_.put("two", content));
  const std::vector<Stretch> of_one{{5, content_.size() - 5}}, of_two{{0, content.size()}};
  for (const Bytes chunk : {Bytes{4096}, Bytes{1} << 20}) {
    ReadAhead first(one, of_one, options(chunk, 16)), second(two, of_two, options(chunk, 16));
    for (int iteration = 0; iteration < 2; ++iteration) {
      first.begin();
      second.begin();
      std::string copied(content.size(), '\0');
      const auto copy = [&](ReadAhead& reader, Bytes offset, Bytes size) {
        reader.copy(reinterpret_cast<std::byte*>(copied.data()), offset, size);
        return std::string_view(copied).substr(0, size);
      };
      constexpr Bytes kPart = 100'000;
      for (Bytes at = 0; at < content.size(); at += kPart) {
        const Bytes size = std::min(kPart, content.size() - at);
        ASSERT_EQ(copy(second, at, size), std::string_view(content).substr(at, size)) << at;
        if (at + 5 >= content_.size()) continue;
        const Bytes other = std::min(kPart, content_.size() - at - 5);
        ASSERT_EQ(copy(first, at + 5, other), std::string_view(content_).substr(at + 5, other));
      }
    }
  }
}

TEST_P(ReadAheadTest, TheQueueIsForFilesThatAreReadDirectly) {
  const DirectFile file(path_);
  const bool queued = ReadAhead::best_options(file, {}).queue != nullptr;
  EXPECT_EQ(queued, file.direct() && ReadQueue::open(1));
  if (!std::filesystem::is_directory("/dev/shm")) return;
  const test::TemporaryFolder memory("/dev/shm");
  EXPECT_FALSE(ReadAhead::best_options(DirectFile(memory.put("f", content_)), {}).queue);
}

INSTANTIATE_TEST_SUITE_P(By, ReadAheadTest, testing::Bool(), [](const auto& by) {
  return std::string(by.param ? "Queue" : "Threads");
});

}  // namespace
}  // namespace hios
