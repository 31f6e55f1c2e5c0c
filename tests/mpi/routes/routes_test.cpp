#include "mpi/routes/route.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi/routes/inner_messages.h"
#include "mpi/routes/route_table.h"
#include "mpi/routes/staged.h"
#include "support/expect_error.h"
#include "support/message.h"

namespace hios::test {
namespace {

using mpi::Route;
using mpi::RouteTable;

TEST(Routes, HaveNames) {
  EXPECT_EQ(mpi::parse_route("auto"), nullptr);
  for (const char* const name : {"ipc", "cuda-aware", "nccl", "staged", "host"}) {
    EXPECT_EQ(mpi::parse_route(name)->name, name);
  }
  for (const char* const wrong : {"hosts", "", "IPC"}) {
    expect_message(message_of([&] { mpi::parse_route(wrong); }),
                   "there are auto, host, ipc, cuda-aware, nccl and staged");
  }
}

/// Properties of the table that the rest of the code relies on, whatever its routes.
TEST(Routes, TheTableIsSound) {
  for (const Route& route : mpi::routes()) {
    EXPECT_EQ(&mpi::route_named(route.name), &route);
    EXPECT_EQ(&mpi::routes()[mpi::index_of(route)], &route);
    EXPECT_FALSE(route.description.empty()) << route.name;
    EXPECT_TRUE(route.make_send != nullptr && route.make_receive != nullptr) << route.name;
  }
  const mpi::ServedPairs all = mpi::fallback_route().serves;
  EXPECT_TRUE(all.hosts && all.device_and_host && all.devices);
  EXPECT_TRUE(mpi::fallback_route().takes_empty && mpi::fallback_route().takes_any_queue);
  EXPECT_EQ(mpi::device_route_names("or"), "ipc, cuda-aware, nccl or staged");
  expect_error<InputError>([] { mpi::route_named("none"); },
                           {"host, ipc, cuda-aware, nccl, staged"});
}

TEST(RouteTable, IsShownRankByRank) {
  RouteTable table = RouteTable::uniform(2, mpi::route_named("host"));
  table.by_pair[1] = &mpi::route_named("cuda-aware");
  table.by_pair[2] = &mpi::route_named("staged");
  table.why_not[1] = "no ipc: on different hosts";
  EXPECT_EQ(table.table(),
            "from \\ to  0             1\n"
            "0          -             cuda-aware\n"
            "1          staged        -\n"
            "0-1: no ipc: on different hosts\n");
}

/// Pairs with the same reason share a line; each route in use is named once.
TEST(RouteTable, KnowsTheRoutesInUse) {
  RouteTable table = RouteTable::uniform(3, mpi::route_named("host"));
  table.set(Rank(0), Rank(2), mpi::route_named("staged"), "no ipc: refused");
  table.set(Rank(2), Rank(1), mpi::route_named("ipc"));
  std::vector<std::string_view> names;
  for (const Route* const route : table.used()) names.push_back(route->name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"host", "ipc", "staged"}));
  EXPECT_EQ(table.at(Rank(2), Rank(0)).name, "staged");
  EXPECT_NE(table.table().find("0-2, 2-0: no ipc: refused"), std::string::npos) << table.table();
  EXPECT_TRUE(RouteTable::uniform(1, mpi::route_named("host")).used().empty());
}

// MPI libraries promise 15 bits in tags and have 21 or more in practice.
TEST(TagBook, TagsBeginAgainBeforeTheyNeedMoreThanTwentyOneBits) {
  const int last = (1 << 20) - 1;
  mpi::TagBook tags(2, last);
  EXPECT_EQ(tags.next_to(Rank(1)), 2 * last);
  EXPECT_EQ(tags.next_to(Rank(1)), 0);
  EXPECT_EQ(tags.next_to(Rank(0)), 2 * last) << "each peer has its own";
  EXPECT_EQ(tags.next_answer_from(Rank(1)), 2 * last + 1);
  EXPECT_EQ(tags.next_answer_from(Rank(1)), 1);
}

TEST(StagingChunks, CoverAMessageInOrder) {
  const Bytes kMiB = Bytes{1} << 20;
  for (const Bytes size : {Bytes{0}, Bytes{1}, kMiB / 4, kMiB / 4 + 1, 3 * kMiB, 16 * kMiB,
                           16 * kMiB + 1, 1000 * kMiB + 7}) {
    const std::vector<mpi::Chunk> chunks = mpi::staging_chunks(size);
    Bytes end = 0;
    for (const mpi::Chunk& chunk : chunks) {
      EXPECT_EQ(chunk.begin, end) << size;
      EXPECT_TRUE(chunk.size_bytes > 0 || size == 0) << size;
      end += chunk.size_bytes;
    }
    EXPECT_EQ(end, size);
    EXPECT_GE(chunks.size(), 1u);
    EXPECT_LE(chunks.size(), 64u);
  }
  EXPECT_EQ(mpi::staging_chunks(kMiB / 4).size(), 1u);
  EXPECT_EQ(mpi::staging_chunks(kMiB / 4 + 1).size(), 2u);
}

}  // namespace
}  // namespace hios::test
