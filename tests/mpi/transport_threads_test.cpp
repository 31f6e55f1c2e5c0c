#include <gtest/gtest.h>

#include <tuple>

#include "support/thread_transport.h"
#include "transport_contract.h"

namespace hios::test {
namespace {

class OnThreads : public testing::TestWithParam<std::tuple<ContractCase, std::size_t>> {};

TEST_P(OnThreads, KeepsTheContract) {
  const auto& [contract, ranks] = GetParam();
  run_ranks(ranks, contract.check);
}

TEST_P(OnThreads, KeepsTheContractWhenMessagesAreLate) {
  const auto& [contract, ranks] = GetParam();
  ThreadOptions options;
  options.seed = 11;
  options.max_delay_ms = 0.3;
  run_ranks(ranks, contract.check, options);
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
