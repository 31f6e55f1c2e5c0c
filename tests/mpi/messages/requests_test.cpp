#include "mpi/messages/requests.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "mpi/messages/communicator.h"
#include "support/programs/mpi_main.h"

namespace hios::test {
namespace {

using mpi::Channel;
using mpi::Message;

/// Persistent requests that were made and freed, counted by MPI's profiling interface (below).
int requests_made = 0, requests_freed = 0;

/// Returns the text of the RunError that a step throws, or nothing.
template <class Step>
std::string failure_of(const Step& step) {
  try {
    step();
  } catch (const RunError& error) {
    return error.what();
  }
  return {};
}

/// Returns this MPI's name of an error.
std::string name_of(int error) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error, text.data(), &length);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
  }
}

/// Sends `sent` bytes from rank 0 to rank 1, which has room for `room`; returns the failure of its
/// wait.
std::string failure_of_receive(Bytes sent, Bytes room, bool by_poll) {
  std::vector<std::byte> buffer(std::max(sent, room));
  std::string failure;
  const Message message{Rank(1 - job().rank().index()), 77, buffer.data(),
                        job().rank() == Rank(0) ? sent : room};
  const std::vector<Message> one = {message};
  if (job().rank() == Rank(0)) {
    const auto channel = job().open_channel(one, {});
    channel->start_send(0);
    channel->finish();
  } else if (job().rank() == Rank(1)) {
    const auto channel = job().open_channel({}, one);
    failure = failure_of([&] {
      channel->start_receives();
      while (by_poll) channel->poll();  // ends by throwing
      channel->await_receive(0);
    });
  }
  job().barrier();
  return failure;
}

TEST(Requests, RefuseAMessageThatIsTooLong) {
  if (job().size() < 2) GTEST_SKIP() << "needs a peer";
  for (const bool by_poll : {false, true}) {
    const std::string failure = failure_of_receive(100, 50, by_poll);
    if (job().rank() != Rank(1)) continue;
    expect_words(failure,
                 {"receiving 50 bytes from rank 0, tag 77", by_poll ? "MPI_Test" : "MPI_Wait",
                  "messages/requests.cpp:", name_of(MPI_ERR_TRUNCATE)});
    EXPECT_EQ(failure.find(HIOS_SOURCE_DIR), std::string::npos) << failure;
  }
}

TEST(Requests, RefuseAMessageThatIsTooShort) {
  if (job().size() < 2) GTEST_SKIP() << "needs a peer";
  for (const bool by_poll : {false, true}) {
    const std::string failure = failure_of_receive(10, 50, by_poll);
    if (job().rank() != Rank(1)) continue;
    EXPECT_EQ(failure, "receiving 50 bytes from rank 0, tag 77: only 10 bytes arrived");
  }
}

TEST(Requests, RefuseARankThatIsNotThere) {
  std::vector<std::byte> buffer(8);
  const std::vector<Message> nobody = {{Rank(1000), 3, buffer.data(), 8}};
  expect_words(failure_of([&] { job().open_channel(nobody, {}); }),
               {"sending 8 bytes to rank 1000, tag 3", name_of(MPI_ERR_RANK)});
}

TEST(Requests, AreFreedWhileAReceiveIsUnderWay) {
  std::vector<std::byte> buffer(1 << 16);
  const std::vector<Message> never = {{job().rank(), 4, buffer.data(), buffer.size()}};
  requests_made = requests_freed = 0;
  job().open_channel(never, never)->start_receives();
  EXPECT_EQ(requests_made, 2);
  EXPECT_EQ(requests_freed, 2);
  job().barrier();
}

// A receive that was freed alone would take the next message of its tag.
TEST(Requests, AreCancelledWithTheirChannel) {
  std::vector<std::byte> old(8, std::byte{1}), sent(8, std::byte{2}), received(8);
  const Rank self = job().rank();
  const auto to = [&](std::vector<std::byte>& buffer) {
    return std::vector<Message>{{self, 5, buffer.data(), buffer.size()}};
  };
  job().open_channel({}, to(old))->start_receives();
  const auto channel = job().open_channel(to(sent), to(received));
  channel->start_receives();
  channel->start_send(0);
  for (int i = 0; i < 100'000 && !channel->received(0); ++i) channel->poll();
  EXPECT_EQ(received, sent);
  EXPECT_EQ(old, std::vector<std::byte>(8, std::byte{1}));
  job().barrier();
}

/// A type of more bytes than an int counts, with small blocks so that it fits here.
TEST(ContiguousBytes, CoverEveryByteOnce) {
  for (const Bytes size : {Bytes{1}, Bytes{63}, Bytes{64}, Bytes{65}, Bytes{1000}, Bytes{4096}}) {
    const mpi::UniqueDatatype type = mpi::contiguous_bytes(size, 64);
    MPI_Count bytes = 0, lower = 0, extent = 0;
    HIOS_MPI(MPI_Type_size_x(type.get(), &bytes));
    HIOS_MPI(MPI_Type_get_extent_x(type.get(), &lower, &extent));
    EXPECT_EQ(static_cast<Bytes>(bytes), size);
    EXPECT_EQ(lower, 0);
    EXPECT_EQ(static_cast<Bytes>(extent), size);

    std::vector<unsigned char> from(size), to(size);
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
    HIOS_MPI(MPI_Sendrecv(from.data(), 1, type.get(), 0, 9, to.data(), static_cast<int>(size),
                          MPI_BYTE, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    EXPECT_EQ(from, to);
  }
}

TEST(ContiguousBytes, CountBeyondAnInt) {
  const Bytes size = (Bytes{5} << 30) + 12345;
  const mpi::UniqueDatatype type = mpi::contiguous_bytes(size, Bytes{1} << 30);
  MPI_Count bytes = 0;
  HIOS_MPI(MPI_Type_size_x(type.get(), &bytes));
  EXPECT_EQ(static_cast<Bytes>(bytes), size);
}

}  // namespace
}  // namespace hios::test

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int source, int tag,
                  MPI_Comm communicator, MPI_Request* request) {
  ++hios::test::requests_made;
  return PMPI_Recv_init(data, count, type, source, tag, communicator, request);
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int destination, int tag,
                  MPI_Comm communicator, MPI_Request* request) {
  ++hios::test::requests_made;
  return PMPI_Send_init(data, count, type, destination, tag, communicator, request);
}

int MPI_Request_free(MPI_Request* request) {
  ++hios::test::requests_freed;
  return PMPI_Request_free(request);
}
