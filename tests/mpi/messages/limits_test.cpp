// Limits of int in MPI: tags, bytes, messages. On two ranks of a real MPI.

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "mpi/transport.h"
#include "support/programs/mpi_main.h"
#include "support/transports/posted_messages.h"

namespace hios::test {
namespace {

/// The library's answer to a query of MPI_TAG_UB; empty: the true one.
std::optional<int> pretended_largest_tag;
int questions_for_tags = 0;

const Rank kFirst{0}, kSecond{1};
Rank other() { return job().rank() == kFirst ? kSecond : kFirst; }

std::string message_about_tag(int tag) {
  std::vector<std::byte> buffer(8);
  const std::vector<mpi::Message> one = {{other(), tag, buffer.data(), buffer.size()}};
  try {
    job().open_channel(one, {});
  } catch (const RunError& error) {
    return error.what();
  }
  return {};
}

TEST(MessageLimits, TagsBeyondTheLibrarysAreRefused) {
  questions_for_tags = 0;
  EXPECT_EQ(message_about_tag(32767), "") << "MPI promises that tag";
  EXPECT_GT(questions_for_tags, 0);
  pretended_largest_tag = 32767;
  EXPECT_EQ(message_about_tag(32767), "");
  EXPECT_EQ(message_about_tag(32768),
            "sending 8 bytes to rank " + std::to_string(other().index()) +
                ", tag 32768: the tags of this MPI library end at 32767; use another library, or a "
                "smaller network");
  EXPECT_NE(message_about_tag(-1), "");
  pretended_largest_tag.reset();
  job().barrier();
}

/// A large range of bytes that shows the same block repeatedly; only the block takes memory.
class RepeatedBytes {
 public:
  RepeatedBytes(Bytes size_bytes, const std::vector<std::uint64_t>& block)
      : size_(size_bytes + kBlockBytes) {
    const int file = memfd_create("block", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(file, kBlockBytes), 0);
    data_ = static_cast<std::byte*>(
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (Bytes at = 0; at + kBlockBytes <= size_; at += kBlockBytes) {
      EXPECT_NE(
          mmap(data_ + at, kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
          MAP_FAILED);
    }
    close(file);
    std::memcpy(data_, block.data(), kBlockBytes);
  }
  ~RepeatedBytes() { munmap(data_, size_); }
  RepeatedBytes(const RepeatedBytes&) = delete;
  RepeatedBytes& operator=(const RepeatedBytes&) = delete;
  std::byte* data() { return data_; }

  /// No power of two, so that a block of a message at the wrong position shows.
  static constexpr Bytes kBlockBytes = Bytes{61} << 20;

 private:
  Bytes size_;
  std::byte* data_;
};

TEST(MessageLimits, AMessageOfMoreThanTwoGigabytesComesBitForBit) {
  constexpr Bytes kSize = (Bytes{1} << 31) + (Bytes{100} << 20) + 12345;
  constexpr Bytes kBlock = RepeatedBytes::kBlockBytes;
  Random random(31, "block");
  std::vector<std::uint64_t> block(kBlock / sizeof(std::uint64_t));
  for (std::uint64_t& word : block) word = random.next();
  if (job().rank() == kFirst) {
    RepeatedBytes bytes(kSize, block);
    const std::vector<mpi::Message> one = {{kSecond, 5, bytes.data(), kSize}};
    const auto channel = job().open_channel(one, {});
    channel->start_send(0);
    channel->finish();
  } else {
    const std::unique_ptr<std::byte[]> bytes(new std::byte[kSize]);
    const std::vector<mpi::Message> one = {{kFirst, 5, bytes.get(), kSize}};
    const auto channel = job().open_channel({}, one);
    channel->start_receives();
    channel->await_receive(0);
    for (Bytes at = 0; at < kSize; at += kBlock) {
      const Bytes count = std::min(kBlock, kSize - at);
      EXPECT_EQ(std::memcmp(bytes.get() + at, block.data(), count), 0) << "after byte " << at;
    }
  }
  job().barrier();
}

TEST(MessageLimits, TenThousandMessagesUnderWay) {
  constexpr std::size_t kMessages = 10'000;
  std::vector<Post> posts;
  for (std::size_t i = 0; i < kMessages; ++i) {
    posts.push_back({i % 2, 1 - i % 2, static_cast<int>(i), 1 + i % 300});
  }
  PostedMessages messages(job(), nullptr, posts);
  Random random(10, "order");
  for (std::size_t iteration = 0; iteration < 3; ++iteration) {
    const auto begin = [&] {
      messages.start_receives();
      for (std::size_t i = 0; i < kMessages; ++i) {
        if (messages.sends(i)) messages.start_send(i, iteration);
      }
    };
    // All messages of the first rank are there before the second has posted a receive.
    if (job().rank() == kFirst) begin();
    job().barrier();
    if (job().rank() == kSecond) begin();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < kMessages; ++i) order.push_back(i);
    for (std::size_t i = kMessages; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t i : order) {
      if (messages.receives(i)) messages.await_receive(i, iteration);
    }
    for (const std::size_t i : order) {
      if (messages.sends(i)) messages.await_send(i);
    }
    messages.finish();
  }
  job().barrier();
}

}  // namespace
}  // namespace hios::test

/// Overrides the library's function, which MPI's profiling interface allows.
int MPI_Comm_get_attr(MPI_Comm communicator, int key, void* value, int* found) {
  if (key != MPI_TAG_UB) return PMPI_Comm_get_attr(communicator, key, value, found);
  ++hios::test::questions_for_tags;
  if (!hios::test::pretended_largest_tag) {
    return PMPI_Comm_get_attr(communicator, key, value, found);
  }
  *static_cast<int**>(value) = &*hios::test::pretended_largest_tag;
  *found = 1;
  return MPI_SUCCESS;
}
