#include "support/device_ranks.h"

#include <cstdlib>
#include <utility>

namespace hios::test {

using mpi::Message;
using mpi::Route;
using mpi::Transport;

std::unique_ptr<mpi::Channel> DeviceShy::open_channel(std::span<const Message> sends,
                                                      std::span<const Message> receives) {
  std::vector<Message> sent(sends.begin(), sends.end());
  for (Message& message : sent) {
    if (!FakeAccelerator::owns(message.data)) continue;
    if (device_ == Device::kRefused) throw RunError("device memory was given to a deaf MPI");
    if (device_ == Device::kMangled) message.data = elsewhere_.data();
  }
  for (const Message& message : receives) {
    if (device_ == Device::kRefused && FakeAccelerator::owns(message.data)) {
      throw RunError("device memory was given to a deaf MPI");
    }
  }
  return inner_.open_channel(sent, receives);
}

void DeviceShy::abort(int exit_code) {
  inner_.abort(exit_code);
  std::abort();
}

bool has_device(const Ways& ways, Rank rank) { return ways.path || rank.index() % 3 != 1; }

mpi::RouteTable paths_of(const Ways& ways, std::size_t ranks) {
  constexpr std::array kAll = {Route::kIpc, Route::kCudaAware, Route::kStaged};
  mpi::RouteTable paths{ranks, {}, {}};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const bool sender = has_device(ways, Rank(from)), receiver = has_device(ways, Rank(to));
      if (!sender && !receiver) {
        paths.by_pair.push_back(Route::kHost);
      } else if (!sender || !receiver) {
        paths.by_pair.push_back(Route::kStaged);
      } else {
        paths.by_pair.push_back(ways.path.value_or(kAll[(from * 2 + to) % kAll.size()]));
      }
    }
  }
  return paths;
}

void run_device_ranks(std::size_t ranks, const DeviceRanks& setting, const DeviceBody& body) {
  const auto machine = make_fake_machine();
  const bool mpi_takes_devices = setting.ways.path.value_or(Route::kCudaAware) == Route::kCudaAware;
  run_ranks(
      ranks,
      [&](Transport& plain) {
        DeviceShy inner(
            plain, mpi_takes_devices ? DeviceShy::Device::kTaken : DeviceShy::Device::kRefused);
        FakeOptions options;
        options.pace = setting.pace;
        options.seed = setting.seed * 16 + plain.rank().index();
        options.identity = "FAKE-" + std::to_string(plain.rank().index());
        if (setting.with) setting.with(plain.rank(), options);
        std::optional<FakeAccelerator> device;
        if (has_device(setting.ways, plain.rank())) device.emplace(machine, options);
        FakeAccelerator* const own = device ? &*device : nullptr;
        const auto transport =
            mpi::make_device_transport(inner, own, paths_of(setting.ways, ranks));
        body(*transport, own);
      },
      setting.threads);
}

}  // namespace hios::test
