#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mpi/device/device_transport.h"
#include "support/fake_accelerator.h"
#include "support/thread_transport.h"

/// Ranks with fake devices.
namespace hios::test {

/// A transport that takes no device memory, as an MPI without CUDA does (by an error instead of a
/// crash), or takes it in one of the ways in which MPIs take it.
class DeviceShy final : public mpi::Transport {
 public:
  enum class Device { kRefused, kTaken, kMangled };
  DeviceShy(mpi::Transport& inner, Device device, std::string host = {})
      : inner_(inner), device_(device), host_(host.empty() ? inner.host() : std::move(host)) {}

  Rank rank() const override { return inner_.rank(); }
  std::size_t size() const override { return inner_.size(); }
  std::size_t local_rank() const override { return inner_.local_rank(); }
  std::size_t local_size() const override { return inner_.local_size(); }
  const std::string& host() const override { return host_; }
  std::string path() const override { return inner_.path(); }
  void barrier() override { inner_.barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return inner_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override { return inner_.broadcast(text); }
  void all_reduce_max(std::span<double> values) override { inner_.all_reduce_max(values); }
  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message> sends,
                                             std::span<const mpi::Message> receives) override;
  void abort(int exit_code) override;

 private:
  mpi::Transport& inner_;
  const Device device_;
  const std::string host_;
  std::vector<std::byte> elsewhere_ = std::vector<std::byte>(1 << 16);
};

/// Which way the messages of a test go.
struct Ways {
  std::string name;
  /// Of all pairs; none: every third rank has no device, and each ordered pair has a way of its
  /// own.
  std::optional<mpi::Route> path;
};
inline std::ostream& operator<<(std::ostream& out, const Ways& ways) { return out << ways.name; }

bool has_device(const Ways& ways, Rank rank);
mpi::RouteTable paths_of(const Ways& ways, std::size_t ranks);

/// The body on ranks as threads that share a machine of fake devices; device null where the rank
/// has none.
using DeviceBody = std::function<void(mpi::Transport&, FakeAccelerator*)>;
struct DeviceRanks {
  Ways ways;
  FakeOptions::Pace pace = FakeOptions::Pace::kRandom;
  std::uint64_t seed = 0;
  ThreadOptions threads = {};
  /// Faults and the like; called for each rank.
  std::function<void(Rank, FakeOptions&)> with = {};
};
void run_device_ranks(std::size_t ranks, const DeviceRanks& setting, const DeviceBody& body);

}  // namespace hios::test
