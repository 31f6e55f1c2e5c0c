#include "engine/cold/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

/// The bytes of one copy, before and after.
struct CopiedBytes {
  std::vector<std::byte> from, to;
};

class LoaderTest : public testing::Test {
 protected:
  void add_lane(const std::vector<std::vector<std::size_t>>& sizes_of_loads) {
    Loader::LaneOfCopies& lane = lanes_.emplace_back();
    for (const auto& sizes : sizes_of_loads) {
      auto& load = lane.emplace_back();
      for (const std::size_t size : sizes) {
        auto& part = *parts_.emplace_back(std::make_unique<CopiedBytes>());
        part.to.assign(size, std::byte{0});
        part.from.resize(size);
        for (std::size_t i = 0; i < size; ++i) {
          part.from[i] = static_cast<std::byte>(1 + (i * 7 + parts_.size()) % 255);
        }
        load.push_back({part.from.data(), part.to.data(), size});
      }
    }
  }
  static bool loaded(const std::vector<ParameterCopy>& load) {
    return std::ranges::all_of(load, [](const ParameterCopy& copy) {
      return std::equal(copy.from, copy.from + copy.size_bytes, copy.to);
    });
  }
  void forget() {
    for (const auto& part : parts_) std::ranges::fill(part->to, std::byte{0});
  }

  std::vector<Loader::LaneOfCopies> lanes_;
  std::vector<std::unique_ptr<CopiedBytes>> parts_;
};

// Whoever sees the end of a load sees its bytes, and those of all before it.
TEST_F(LoaderTest, ALoadThatHasEndedIsThere) {
  add_lane({{300'000, 5}, {1}, {700'000}});
  add_lane({{64}, {64, 64, 64}, {1'000'000}, {9}});
  Loader loader(lanes_, {});
  for (int iteration = 0; iteration < 8; ++iteration) {
    forget();
    loader.begin();
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      for (std::size_t i = 0; i < lanes_[l].size(); ++i) {
        while (!loader.ended(l, i)) Loader::yield();
        for (std::size_t before = 0; before <= i; ++before) {
          ASSERT_TRUE(loaded(lanes_[l][before])) << "lane " << l << " load " << before;
        }
      }
    }
    loader.finish();
  }
}

TEST_F(LoaderTest, LoadsOfALaneFollowEachOther) {
  add_lane({{400'000}, {10}, {400'000}});
  Loader loader(lanes_, {});
  loader.begin();
  loader.finish();
  const auto clocks = loader.clocks(0);
  ASSERT_EQ(clocks.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LE(clocks[i].start_ms, clocks[i].end_ms);
    if (i > 0) {
      EXPECT_LE(clocks[i - 1].end_ms, clocks[i].start_ms);
    }
  }
  EXPECT_EQ(loader.progress_text(0), "3 of 3 loads, 800010 of 800010 bytes");
}

TEST_F(LoaderTest, BeforeTheFirstIterationAllCountsAsLoaded) {
  add_lane({{4}});
  const Loader loader(lanes_, {});
  EXPECT_TRUE(loader.ended(0, 0));
  EXPECT_FALSE(loaded(lanes_[0][0]));  // and nothing was
}

// Both in a first iteration and in later ones.
TEST_F(LoaderTest, AClosedLoadAndThoseAfterItBeginOnceItIsOpened) {
  add_lane({{100}, {200}, {300}, {400}});
  Loader loader(lanes_, {}, {{1, 3}});
  for (int iteration = 0; iteration < 3; ++iteration) {
    forget();
    loader.begin();
    while (!loader.ended(0, 0)) Loader::yield();
    EXPECT_EQ(loader.loaded(0), 1u);
    EXPECT_FALSE(loaded(lanes_[0][1]));
    loader.open_next(0);
    while (!loader.ended(0, 2)) Loader::yield();
    EXPECT_FALSE(loader.ended());
    EXPECT_FALSE(loaded(lanes_[0][3]));
    loader.open_next(0);
    while (!loader.ended()) Loader::yield();
    EXPECT_TRUE(loaded(lanes_[0][3]));
    loader.finish();
  }
}

TEST_F(LoaderTest, EndsWhileALoadIsClosed) {
  add_lane({{100}, {200}});
  Loader loader(lanes_, {}, {{0}});
  loader.begin();
}

TEST_F(LoaderTest, EndsWhileItLoads) {
  add_lane({{3'000'000}, {3'000'000}});
  {
    Loader loader(lanes_, {});
    loader.begin();
  }
  EXPECT_TRUE(loaded(lanes_[0][1]));
}

// Loads from memory and from the file follow each other in a lane.
TEST_F(LoaderTest, ALaneReadsItsFile) {
  add_lane({{300'000}, {5000, 7}, {700'000}});
  std::string content(123, 'x');
  for (ParameterCopy& copy : lanes_[0][1]) {
    copy.offset = content.size();
    content.append(reinterpret_cast<const char*>(copy.from), copy.size_bytes);
  }
  const test::TemporaryFolder folder;
  const DirectFile file(folder.put("f", content));
  Loader loader(lanes_, {}, {}, &file);
  for (int iteration = 0; iteration < 3; ++iteration) {
    forget();
    loader.begin();
    loader.finish();
    for (const auto& load : lanes_[0]) EXPECT_TRUE(loaded(load));
  }
}

TEST_F(LoaderTest, AFileThatCannotBeReadEndsEveryWait) {
  add_lane({{10}, {200'000}});
  add_lane({{10}});
  lanes_[0][1][0].offset = 0;
  const test::TemporaryFolder folder;
  const auto path = folder.put("f", std::string(200'000, 'x'));
  const DirectFile file(path);
  Loader loader(lanes_, {}, {}, &file);
  std::filesystem::resize_file(path, 100);
  loader.begin();
  const std::initializer_list<std::string_view> words = {"f: ends at byte ", "when the run began"};
  test::expect_error<RunError>([&] { loader.finish(); }, words);
  test::expect_error<RunError>([&] { static_cast<void>(loader.ended()); }, words);
  test::expect_error<RunError>([&] { static_cast<void>(loader.ended(0, 1)); }, words);
  EXPECT_TRUE(loader.ended(0, 0));
}

TEST_F(LoaderTest, ALoadOfNoBytesEnds) {
  add_lane({{}, {0}});
  Loader loader(lanes_, {});
  loader.begin();
  loader.finish();
  EXPECT_TRUE(loader.ended(0, 1));
}

// After an error, nobody waits for the loads that are left.
TEST_F(LoaderTest, ALoaderThatClosesStopsWhatItsLoadsWaitFor) {
  add_lane({{10}, {10}});
  std::atomic<int> waits{0};
  {
    const auto wait = [&](std::size_t, std::size_t, const std::atomic<bool>& stop) {
      ++waits;
      while (!stop) std::this_thread::yield();
    };
    Loader loader(lanes_, {}, {}, nullptr, wait);
    loader.begin();
  }
  EXPECT_EQ(waits, 2);
}

}  // namespace
}  // namespace hios
