// The bodies of the GPU's tests with ranks (tests/engine/cuda/rank_networks_test.cpp) on fake
// devices and threads: they run without a GPU, and find the faults that they look for.
#include "support/networks/rank_networks.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "hios/base/error.h"
#include "support/fakes/fake_async_backend.h"
#include "support/sanitized.h"
#include "support/transports/device_ranks.h"

namespace hios::test {
namespace {

using mpi::Route;

/// Makes a backend that keeps no list of the operators that ran: that list would grow.
std::unique_ptr<Backend> make_fake(FakeAccelerator& device, bool records) {
  auto backend = std::make_unique<FakeAsyncBackend>(device, records);
  backend->on_run = [book = &backend->ran](const std::string&) { book->clear(); };
  return backend;
}

/// Returns the routes for devices, each alone; fake devices form no group.
std::vector<const Route*> device_routes() {
  std::vector<const Route*> found;
  for (const Route& route : mpi::routes()) {
    if (route.serves.devices && !route.join) found.push_back(&route);
  }
  return found;
}

/// Runs the body on two ranks that share a machine of fake devices, by one route.
void on_fake_devices(const Route* route, const std::function<void(const RankJob&)>& body,
                     const std::function<void(FakeOptions&)>& with = {}) {
  const auto machine = make_fake_machine();
  run_ranks(2, [&](mpi::Transport& plain) {
    DeviceShy transport(plain, mpi_takes_devices({"", route}) ? DeviceShy::Device::kTaken
                                                              : DeviceShy::Device::kRefused);
    FakeOptions options;
    options.seed = plain.rank().index();
    options.identity = "FAKE-" + std::to_string(plain.rank().index());
    options.memory_bytes = Bytes{1} << 30;
    if (with) with(options);
    FakeAccelerator device(machine, options);
    body({.transport = transport,
          .make_backend = [&](bool graphs, const Json&) { return make_fake(device, graphs); },
          .make_reference = [] { return std::make_unique<FakeBackend>(); },
          .route = route});
  });
}

class RankNetworks : public testing::TestWithParam<std::tuple<SmallNetwork, const Route*>> {};

TEST_P(RankNetworks, GiveWhatOneRankGives) {
  on_fake_devices(std::get<1>(GetParam()),
                  [](const RankJob& job) { expect_as_one_rank(job, std::get<0>(GetParam())); });
}

INSTANTIATE_TEST_SUITE_P(Small, RankNetworks,
                         testing::Combine(testing::Values(SmallNetwork{"inception_v3", 75},
                                                          SmallNetwork{"nasnet_large", 32},
                                                          SmallNetwork{"squeezenet", 48},
                                                          SmallNetwork{"randwire_large", 32}),
                                          testing::ValuesIn(device_routes())),
                         [](const auto& parameter) {
                           std::string name(std::get<0>(parameter.param).name);
                           return name + "_" + route_case(std::get<1>(parameter.param)->name).name;
                         });

class RankMemory : public testing::TestWithParam<const Route*> {};

// Fewer iterations than on GPUs: what the executor itself holds is measured by
// tests/engine/run/steady_memory_test.cpp, over more.
TEST_P(RankMemory, DoesNotGrow) {
  on_fake_devices(GetParam(), [](const RankJob& job) {
    expect_no_growth(job, {"squeezenet", 32}, tries(200));
  });
}

INSTANTIATE_TEST_SUITE_P(Routes, RankMemory, testing::ValuesIn(device_routes()),
                         [](const auto& parameter) {
                           return route_case(parameter.param->name).name;
                         });

TEST(RankNetworksBody, ThrowsWhereTheRouteIsNotToBeHad) {
  for (const char* const route : {"ipc", "cuda-aware"}) {
    const auto body = [&](const RankJob& job) {
      DeviceShy deaf(job.transport, DeviceShy::Device::kRefused);
      const RankJob refused{deaf, job.make_backend, job.make_reference, job.route};
      EXPECT_THROW(expect_as_one_rank(refused, {"squeezenet", 32}), InputError);
    };
    on_fake_devices(mpi::parse_route(route), body,
                    [](FakeOptions& options) { options.exports = false; });
  }
}

/// Returns the messages of the memory check if each operator does something to its backend.
std::set<std::string> messages_about_growth(
    const std::function<void(FakeAsyncBackend&)>& on_operator) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    on_fake_devices(mpi::parse_route("ipc"), [&](RankJob job) {
      job.make_backend = [make = job.make_backend, &on_operator](bool graphs, const Json& known) {
        auto backend = make(graphs, known);
        auto& fake = dynamic_cast<FakeAsyncBackend&>(*backend);
        fake.free_bytes = Bytes{1} << 30;
        fake.on_run = [&fake, &on_operator](const std::string&) {
          fake.ran.clear();
          on_operator(fake);
        };
        return backend;
      };
      expect_no_growth(job, {"squeezenet", 32}, 40);
    });
  }
  std::set<std::string> kinds;
  for (int i = 0; i < results.size(); ++i) {
    const std::string message = results.GetTestPartResult(i).message();
    for (const char* const kind : {"device memory grew", "host memory grew"}) {
      if (message.find(kind) != std::string::npos) kinds.insert(kind);
    }
  }
  return kinds;
}

TEST(RankNetworksBody, FindsMemoryThatGrows) {
  using Kinds = std::set<std::string>;
  EXPECT_EQ(messages_about_growth([](FakeAsyncBackend&) {}), Kinds{});
  EXPECT_EQ(messages_about_growth([](FakeAsyncBackend& fake) { --*fake.free_bytes; }),
            Kinds{"device memory grew"});
  std::vector<std::string> kept;  // the fakes of one machine run one at a time
  EXPECT_EQ(messages_about_growth([&](FakeAsyncBackend&) { kept.emplace_back(10'000, 'x'); }),
            Kinds{"host memory grew"});
}

}  // namespace
}  // namespace hios::test
