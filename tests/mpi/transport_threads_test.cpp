#include <gtest/gtest.h>

#include <tuple>

#include "support/transports/thread_transport.h"
#include "support/transports/transport_contract.h"

namespace hios::test {
namespace {

class OnThreads : public testing::TestWithParam<std::tuple<ContractCase, std::size_t>> {};

TEST_P(OnThreads, KeepsTheContract) {
  const ContractCase contract = std::get<0>(GetParam());
  const std::size_t ranks = std::get<1>(GetParam());
  run_ranks(ranks, [&](mpi::Transport& transport) { contract.check(transport, nullptr); });
}

TEST_P(OnThreads, KeepsTheContractWhenMessagesAreLate) {
  const ContractCase contract = std::get<0>(GetParam());
  const std::size_t ranks = std::get<1>(GetParam());
  ThreadOptions options;
  options.seed = 11;
  options.max_delay_ms = 0.3;
  const auto body = [&](mpi::Transport& transport) { contract.check(transport, nullptr); };
  run_ranks(ranks, body, options);
}

INSTANTIATE_TEST_SUITE_P(Transport, OnThreads,
                         testing::Combine(testing::ValuesIn(transport_contract().begin(),
                                                            transport_contract().end()),
                                          testing::Values(1u, 2u, 3u, 4u)),
                         [](const auto& c) {
                           return std::string(std::get<0>(c.param).name) + "_" +
                                  std::to_string(std::get<1>(c.param)) + "Ranks";
                         });

}  // namespace
}  // namespace hios::test
