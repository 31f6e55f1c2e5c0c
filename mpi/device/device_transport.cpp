#include "mpi/device/device_transport.h"

#include <cstdlib>
#include <utility>

#include "mpi/device/device_channel.h"
#include "mpi/device/route_probe.h"

namespace hios::mpi {
namespace {

/// The paths in use between different ranks, in words: "tensors by ipc, staged"; all ranks say the
/// same.
std::string ways(const RouteTable& paths) {
  std::string text;
  for (const Route path : {Route::kIpc, Route::kCudaAware, Route::kStaged}) {
    bool used = false;
    for (std::size_t pair = 0; pair < paths.by_pair.size(); ++pair) {
      used = used || (paths.by_pair[pair] == path && pair / paths.ranks != pair % paths.ranks);
    }
    if (!used) continue;
    text += text.empty() ? ", device tensors by " : ", ";
    text += name(path);
  }
  return text;
}

class DeviceTransport final : public Transport {
 public:
  DeviceTransport(Transport& inner, Accelerator* device, RouteTable paths)
      : inner_(inner),
        device_(device),
        paths_(std::move(paths)),
        path_(inner.path() + ways(paths_)),
        tags_(inner.size(), kProbeTags) {}

  Rank rank() const override { return inner_.rank(); }
  std::size_t size() const override { return inner_.size(); }
  std::size_t local_rank() const override { return inner_.local_rank(); }
  std::size_t local_size() const override { return inner_.local_size(); }
  const std::string& host() const override { return inner_.host(); }
  std::string path() const override { return path_; }
  void barrier() override { inner_.barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return inner_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override { return inner_.broadcast(text); }
  void all_reduce_max(std::span<double> values) override { inner_.all_reduce_max(values); }

  std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
    return open_device_channel(inner_, device_, paths_, tags_, channels_, sends, receives);
  }

  void abort(int exit_code) override {
    inner_.abort(exit_code);
    std::abort();  // never reached; the compiler does not see that a virtual function keeps its
                   // word
  }

 private:
  Transport& inner_;
  Accelerator* device_;
  const RouteTable paths_;
  const std::string path_;
  TagBook tags_;
  std::shared_ptr<OpenChannels> channels_ = std::make_shared<OpenChannels>();
};

}  // namespace

std::unique_ptr<Transport> make_device_transport(Transport& inner, Accelerator* device,
                                                 RouteTable paths) {
  return std::make_unique<DeviceTransport>(inner, device, std::move(paths));
}

}  // namespace hios::mpi
