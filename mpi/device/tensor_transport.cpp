#include "mpi/device/tensor_transport.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "mpi/device/open_device_channel.h"
#include "mpi/device/route_probe.h"

namespace hios::mpi {
namespace {

/// Lists the routes of device tensors for people, the same text on all ranks: ", device tensors by
/// ipc, staged".
std::string route_list(const RouteTable& table) {
  std::string text;
  for (const Route* const route : table.used()) {
    if (route->passes_through) continue;
    text += text.empty() ? ", device tensors by " : ", ";
    text += route->name;
  }
  return text;
}

bool all_pass_through(const RouteTable& table) {
  const std::vector<const Route*> used = table.used();
  return std::all_of(used.begin(), used.end(),
                     [](const Route* route) { return route->passes_through; });
}

class TensorTransport final : public Transport {
 public:
  TensorTransport(Transport& inner, Accelerator* device, RouteTable table)
      : inner_(inner),
        device_(device),
        table_(std::move(table)),
        passes_through_(all_pass_through(table_)),
        path_(inner.path() + route_list(table_)),
        tags_(inner.size(), first_tag_after_probes()) {}

  Rank rank() const override { return inner_.rank(); }
  std::size_t size() const override { return inner_.size(); }
  std::size_t local_rank() const override { return inner_.local_rank(); }
  std::size_t local_size() const override { return inner_.local_size(); }
  const std::string& host() const override { return inner_.host(); }
  std::string path() const override { return path_; }
  bool claims_device_memory() const override { return inner_.claims_device_memory(); }
  void barrier() override { inner_.barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return inner_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override { return inner_.broadcast(text); }
  void all_reduce_max(std::span<double> values) override { inner_.all_reduce_max(values); }

  bool records_messages() const override {
    const auto records = [](const Route* route) { return route->records; };
    return std::ranges::any_of(table_.used(), records);
  }
  std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
    if (passes_through_) return inner_.open_channel(sends, receives);
    return open_device_channel(inner_, device_, table_, tags_, channels_, sends, receives);
  }

  flight::Recorder* recorder() const override { return inner_.recorder(); }

  void abort(int exit_code) override {
    inner_.abort(exit_code);
    std::abort();  // never reached; the compiler does not see that a virtual function does not
                   // return
  }

 private:
  Transport& inner_;
  Accelerator* device_;
  const RouteTable table_;
  const bool passes_through_;
  const std::string path_;
  TagBook tags_;
  std::shared_ptr<OpenChannels> channels_ = std::make_shared<OpenChannels>();
};

}  // namespace

std::unique_ptr<Transport> make_tensor_transport(Transport& inner, Accelerator* device,
                                                 RouteTable routes) {
  return std::make_unique<TensorTransport>(inner, device, std::move(routes));
}

}  // namespace hios::mpi
