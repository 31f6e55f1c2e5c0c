#include <gtest/gtest.h>

#include <tuple>

#include "support/programs/mpi_main.h"
#include "support/transports/device_ranks.h"
#include "support/transports/transport_contract.h"

namespace hios::test {
namespace {

class OnMpi : public testing::TestWithParam<ContractCase> {};

TEST_P(OnMpi, KeepsTheContract) { GetParam().check(job(), nullptr); }

INSTANTIATE_TEST_SUITE_P(Transport, OnMpi,
                         testing::ValuesIn(transport_contract().begin(),
                                           transport_contract().end()),
                         [](const auto& c) { return std::string(c.param.name); });

/// A fake device's memory is the process's, so any MPI accepts it. Sharing it would need processes
/// that share a fake machine: only threads do.
class OnMpiBetweenDevices : public testing::TestWithParam<std::tuple<ContractCase, RouteCase>> {};

TEST_P(OnMpiBetweenDevices, KeepsTheContract) {
  const RouteCase routes = std::get<1>(GetParam());
  FakeOptions options;
  options.seed = job().rank().index();
  FakeAccelerator device(options);
  FakeAccelerator* const own = has_device(routes, job().rank()) ? &device : nullptr;
  DeviceShy inner(
      job(), mpi_takes_devices(routes) ? DeviceShy::Device::kTaken : DeviceShy::Device::kRefused);
  const auto transport = mpi::make_tensor_transport(inner, own, route_table(routes, job().size()));
  std::get<0>(GetParam()).check(*transport, own);
}

INSTANTIATE_TEST_SUITE_P(
    Transport, OnMpiBetweenDevices,
    testing::Combine(testing::ValuesIn(transport_contract().begin(), transport_contract().end()),
                     testing::Values(route_case("host"), route_case("cuda-aware"),
                                     route_case("staged"))),
    [](const auto& c) {
      return std::string(std::get<0>(c.param).name) + "_" + std::get<1>(c.param).name;
    });

}  // namespace
}  // namespace hios::test
