#include "support/transports/device_ranks.h"

#include <gtest/gtest.h>

#include <cctype>
#include <utility>

#include "support/fakes/fake_machine.h"

namespace hios::test {

using mpi::Message;
using mpi::Transport;

std::unique_ptr<mpi::Channel> DeviceShy::open_channel(std::span<const Message> sends,
                                                      std::span<const Message> receives) {
  std::vector<Message> sent(sends.begin(), sends.end());
  for (Message& message : sent) {
    if (!FakeAccelerator::owns(message.data)) continue;
    if (device_ == Device::kRefused) throw RunError("device memory was given to a deaf MPI");
    const bool large = message.size_bytes > 1 << 16;
    if (device_ == Device::kMangled || (large && device_ == Device::kMangledWhereLarge)) {
      message.data = elsewhere_.data();
    }
    if (device_ == Device::kLost) message.tag += 1 << 22;  // which nobody receives
  }
  for (const Message& message : receives) {
    if (!FakeAccelerator::owns(message.data)) continue;
    if (device_ == Device::kRefused) throw RunError("device memory was given to a deaf MPI");
    received_at_.push_back(message.data);
  }
  return inner().open_channel(sent, receives);
}

RouteCase route_case(std::string_view route) {
  RouteCase made{"", &mpi::route_named(route)};
  bool starts = true;
  for (const char c : route) {
    if (c != '-') made.name += starts ? static_cast<char>(std::toupper(c)) : c;
    starts = c == '-';
  }
  return made;
}

RouteCase mixed_routes() { return {"Mixed", nullptr}; }

std::vector<RouteCase> device_route_cases() {
  std::vector<RouteCase> cases;
  for (const mpi::Route& route : mpi::routes()) {
    if (route.serves.devices && !route.join) cases.push_back(route_case(route.name));
  }
  cases.push_back(mixed_routes());
  return cases;
}

bool has_device(const RouteCase& routes, Rank rank) {
  return routes.route != nullptr ? routes.route->serves.devices : rank.index() % 3 != 1;
}

bool mpi_takes_devices(const RouteCase& routes) {
  return routes.route == nullptr || routes.route->unavailable != nullptr;
}

mpi::RouteTable route_table(const RouteCase& routes, std::size_t ranks) {
  mpi::RouteTable table = mpi::RouteTable::uniform(ranks, mpi::routes().front());
  for (std::size_t from = 0; from < ranks; ++from) {
    table.devices = table.devices || has_device(routes, Rank(from));
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      std::vector<const mpi::Route*> able;
      for (const mpi::Route& route : mpi::routes()) {
        if (route.join) continue;  // fake devices form no group
        if (mpi::serves(route, has_device(routes, Rank(from)), has_device(routes, Rank(to)))) {
          able.push_back(&route);
        }
      }
      const bool devices = has_device(routes, Rank(from)) && has_device(routes, Rank(to));
      const mpi::Route* const in_turn = able[devices ? (from * 2 + to) % able.size() : 0];
      table.by_pair[from * ranks + to] = routes.route != nullptr ? routes.route : in_turn;
    }
  }
  return table;
}

void run_device_ranks(std::size_t ranks, const DeviceRanks& setting, const DeviceBody& body) {
  const auto machine = make_fake_machine();
  run_ranks(
      ranks,
      [&](Transport& plain) {
        DeviceShy inner(plain, mpi_takes_devices(setting.routes) ? DeviceShy::Device::kTaken
                                                                 : DeviceShy::Device::kRefused);
        FakeOptions options;
        options.pace = setting.pace;
        options.seed = setting.seed * 16 + plain.rank().index();
        options.identity = "FAKE-" + std::to_string(plain.rank().index());
        if (setting.with) setting.with(plain.rank(), options);
        std::optional<FakeAccelerator> device;
        if (has_device(setting.routes, plain.rank())) device.emplace(machine, options);
        FakeAccelerator* const own = device ? &*device : nullptr;
        const auto transport =
            mpi::make_tensor_transport(inner, own, route_table(setting.routes, ranks));
        body(*transport, own);
      },
      setting.threads);
  EXPECT_EQ(machine->withdrawn, 0u) << "freed while another rank held it";
}

}  // namespace hios::test
