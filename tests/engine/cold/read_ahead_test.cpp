#include "engine/cold/read_ahead.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

class ReadAheadTest : public testing::Test {
 protected:
  ReadAheadTest() {
    content_.resize(700'001);
    for (std::size_t i = 0; i < content_.size(); ++i) content_[i] = static_cast<char>(i * 31 / 7);
    path_ = folder_.put("f", content_);
  }
  /// Copies all stretches in their order, each in pieces of at most so many bytes.
  void expect_right(ReadAhead& reader, const std::vector<Stretch>& stretches, Bytes piece) {
    reader.begin();
    for (const Stretch& stretch : stretches) {
      std::string copied(stretch.size_bytes, '\0');
      for (Bytes at = 0; at < copied.size(); at += piece) {
        reader.copy(reinterpret_cast<std::byte*>(copied.data()) + at, stretch.offset + at,
                    std::min(piece, copied.size() - at));
      }
      ASSERT_EQ(copied, content_.substr(stretch.offset, stretch.size_bytes)) << stretch.offset;
    }
  }

  test::TemporaryFolder folder_;
  std::string content_;
  std::filesystem::path path_;
};

TEST_F(ReadAheadTest, RandomStretchesComeInTheirOrderAgainAndAgain) {
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
      const Bytes size = draw(4) == 0 ? 0 : draw(60'000);
      if (offset + size > content_.size()) break;
      stretches.push_back({offset, size});
      end = offset + size;
    }
    ReadAhead reader(file, stretches, {.chunk_bytes = Bytes{4096} << draw(7), .depth = 1 + draw(4)});
    for (int iteration = 0; iteration < 3; ++iteration) {
      expect_right(reader, stretches, 1 + draw(50'000));
    }
  }
}

TEST_F(ReadAheadTest, EndsWhileItReads) {
  const DirectFile file(path_);
  const std::vector<Stretch> all{{0, content_.size()}};
  for (int i = 0; i < 20; ++i) {
    ReadAhead reader(file, all, {.chunk_bytes = 4096, .depth = 3});
    reader.begin();
    std::byte first;
    if (i % 2 == 0) reader.copy(&first, 0, 1);
  }
}

TEST_F(ReadAheadTest, AFileThatShrinksEndsTheCopy) {
  const DirectFile file(path_);
  ReadAhead reader(file, std::vector<Stretch>{{0, content_.size()}},
                   {.chunk_bytes = 65536, .depth = 2});
  std::filesystem::resize_file(path_, 300'000);
  reader.begin();
  std::string copied(content_.size(), '\0');
  test::expect_error(
      [&] { reader.copy(reinterpret_cast<std::byte*>(copied.data()), 0, copied.size()); },
      {"f: ends at byte ", "when the run began"});
}

}  // namespace
}  // namespace hios
