#include <gtest/gtest.h>

#include "support/mpi_main.h"
#include "transport_contract.h"

namespace hios::test {
namespace {

class OnMpi : public testing::TestWithParam<ContractCase> {};

TEST_P(OnMpi, KeepsTheContract) { GetParam().check(job()); }

INSTANTIATE_TEST_SUITE_P(Transport, OnMpi,
                         testing::ValuesIn(transport_contract().begin(),
                                           transport_contract().end()),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace hios::test
