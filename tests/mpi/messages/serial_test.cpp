#include "mpi/messages/serial.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "hios/base/error.h"
#include "support/transports/transport_contract.h"

namespace hios::test {
namespace {

class OnSerial : public testing::TestWithParam<ContractCase> {};

TEST_P(OnSerial, KeepsTheContract) { GetParam().check(*mpi::make_serial_transport(), nullptr); }

INSTANTIATE_TEST_SUITE_P(Transport, OnSerial,
                         testing::ValuesIn(transport_contract().begin(),
                                           transport_contract().end()),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(SerialTransport, HasNobodyToSendTo) {
  std::array<std::byte, 4> bytes{};
  const std::vector<mpi::Message> message = {{Rank(0), 1, bytes.data(), bytes.size()}};
  EXPECT_THROW(mpi::make_serial_transport()->open_channel(message, {}), RunError);
}

TEST(SerialTransportDeathTest, AbortsWithTheStatus) {
  EXPECT_EXIT(mpi::make_serial_transport()->abort(3), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace hios::test
