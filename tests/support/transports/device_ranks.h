#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/device/tensor_transport.h"
#include "support/fakes/fake_accelerator.h"
#include "support/transports/forwarding_transport.h"
#include "support/transports/thread_transport.h"

/// Ranks with fake devices.
namespace hios::test {

/// A transport that refuses device memory, as an MPI without CUDA does (by an error instead of a
/// crash), or accepts it in one of the ways of real MPIs.
class DeviceShy final : public ForwardingTransport {
 public:
  /// Messages of more than 64 KB alone are mangled by kMangledWhereLarge.
  enum class Device { kRefused, kTaken, kMangled, kMangledWhereLarge, kLost };
  /// `claims`: its claim about device memory; empty: the truth.
  DeviceShy(mpi::Transport& inner, Device device, std::string host = {},
            std::optional<bool> claims = {})
      : ForwardingTransport(inner),
        device_(device),
        host_(host.empty() ? inner.host() : std::move(host)),
        claims_(claims.value_or(device != Device::kRefused)) {}

  const std::string& host() const override { return host_; }
  bool claims_device_memory() const override { return claims_; }
  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message> sends,
                                             std::span<const mpi::Message> receives) override;
  /// Returns where in device memory messages were to arrive.
  const std::vector<const std::byte*>& received_at() const { return received_at_; }

 private:
  const Device device_;
  const std::string host_;
  const bool claims_;
  std::vector<const std::byte*> received_at_;
  std::vector<std::byte> elsewhere_ = std::vector<std::byte>(1 << 21);
};

/// The routes of a test's messages.
struct RouteCase {
  std::string name;
  /// Between all pairs: a route for devices; or one for hosts, and then no rank has a device. None:
  /// every third rank has no device, and the pairs take all routes in turn.
  const mpi::Route* route = nullptr;
};
inline std::ostream& operator<<(std::ostream& out, const RouteCase& c) { return out << c.name; }

/// Returns the case of the route of that name: "ipc" gives "Ipc", "cuda-aware" gives "CudaAware".
RouteCase route_case(std::string_view route);
RouteCase mixed_routes();
/// Returns a case for each device route in the table that fake devices can take, and the mixed one.
std::vector<RouteCase> device_route_cases();

bool has_device(const RouteCase& routes, Rank rank);
/// Returns true if the MPI of such a job accepts device memory, which some routes need.
bool mpi_takes_devices(const RouteCase& routes);
mpi::RouteTable route_table(const RouteCase& routes, std::size_t ranks);

/// The body of ranks as threads that share a machine of fake devices; the device is null for a rank
/// without one.
using DeviceBody = std::function<void(mpi::Transport&, FakeAccelerator*)>;
struct DeviceRanks {
  RouteCase routes;
  FakeOptions::Pace pace = FakeOptions::Pace::kRandom;
  std::uint64_t seed = 0;
  ThreadOptions threads = {};
  /// Sets faults and other options; called for each rank.
  std::function<void(Rank, FakeOptions&)> with = {};
};
void run_device_ranks(std::size_t ranks, const DeviceRanks& setting, const DeviceBody& body);

}  // namespace hios::test
