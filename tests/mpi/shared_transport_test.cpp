// Messages through memory that the ranks of a host share, between ranks that are threads.
#include "mpi/shared/shared_transport.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "hios/base/error.h"
#include "mpi/shared/outbox.h"
#include "mpi/shared/shared_arena.h"
#include "support/expect_error.h"
#include "support/transports/forwarding_transport.h"
#include "support/transports/thread_transport.h"
#include "support/transports/transport_contract.h"

namespace hios::mpi {
namespace {

using test::ContractCase;

TEST(SharedMemory, IsOpenedByItsNameAndSizeAlone) {
  const SharedMemory made(100);
  made.data()[99] = std::byte{7};
  const SharedMemory opened(made.name(), 100);
  EXPECT_EQ(opened.data()[99], std::byte{7});
  test::expect_error<RunError>([&] { SharedMemory(made.name(), 99); }, {"another size"});
  test::expect_error<RunError>([&] { SharedMemory(made.name() + "0", 100); }, {"other memory"});
  test::expect_error<RunError>([&] { SharedMemory("1 999999 1", 100); }, {"cannot be opened"});
}

TEST(MemoryOfRanks, IsShortOnAllRanksAlike) {
  test::run_ranks(2, [](Transport& transport) {
    test::expect_error<RunError>(
        [&] {
          open_shared_arena(transport, std::vector<std::size_t>{0, 0}, Bytes{1} << 63);
        },
        {"no memory for the ranks of a host to share"});
  });
}

TEST(MemoryOfRanks, IsSharedByTheRanksOfAHostAndOpenedOnce) {
  test::run_ranks(3, [](Transport& transport) {
    EXPECT_EQ(memory_sharers(transport), std::vector<std::size_t>(3, 0));
    EXPECT_EQ(open_shared_arena(transport, std::vector<std::size_t>{0, 0, 0}, 0), nullptr);
    EXPECT_EQ(open_shared_arena(transport, {}, 100), nullptr);
    const std::size_t me = transport.rank().index();
    const std::vector<std::size_t> sharers = {0, 1, 0};
    const auto arena = open_shared_arena(transport, sharers, 100);
    ASSERT_EQ(arena == nullptr, me == 1) << "alone";
    if (me == 0) arena->data()[99] = std::byte{7};
    transport.barrier();
    if (me == 2) {
      EXPECT_EQ(arena->data()[99], std::byte{7});
    }
    transport.barrier();
  });
}

class OnSharedMemory : public testing::TestWithParam<std::tuple<ContractCase, std::size_t>> {};

TEST_P(OnSharedMemory, KeepsTheContract) {
  const auto& [contract, ranks] = GetParam();
  for (const double delay_ms : {0.0, 0.3}) {
    test::ThreadOptions options;
    options.seed = 12;
    options.max_delay_ms = delay_ms;
    test::run_ranks(
        ranks,
        [&, check = contract.check](Transport& inner) {
          check(*make_shared_transport(inner), nullptr);
        },
        options);
  }
}

INSTANTIATE_TEST_SUITE_P(Transport, OnSharedMemory,
                         testing::Combine(testing::ValuesIn(test::transport_contract().begin(),
                                                            test::transport_contract().end()),
                                          testing::Values(1u, 2u, 4u)),
                         [](const auto& c) {
                           return std::string(std::get<0>(c.param).name) + "_" +
                                  std::to_string(std::get<1>(c.param)) + "Ranks";
                         });

}  // namespace
}  // namespace hios::mpi
