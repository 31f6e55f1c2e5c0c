#include "mpi/device/route_probe.h"

#include <chrono>
#include <thread>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "mpi/device/open_device_channel.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

// Claims of a library or a device are no proof: an MPI may call itself CUDA-aware although the
// support has been switched off, and a mapping may succeed and show other memory. So unguessable
// bytes travel from a to b and back, and both ranks check them, since two errors on the way could
// cancel each other. All ranks agree on whether a step failed before any waits for a message, and
// the wait itself has a time limit.
namespace hios::mpi {
namespace {

constexpr Bytes kProbeBytes = 4096;
// Tags of a pair, for each route: more than a probe uses.
constexpr int kTagsOfProbe = 16;
constexpr int kThere = 1, kBack = 2;
constexpr std::chrono::seconds kTimeLimit{10};

std::vector<std::byte> pattern(const Route& route, Rank a, Rank b) {
  Random random(a.index() * 1000 + b.index(), route.name);
  std::vector<std::byte> bytes(kProbeBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

/// A buffer in device memory, or in host memory if there is no device.
class ProbeBuffer {
 public:
  explicit ProbeBuffer(Accelerator* device) : device_(device), host_(kProbeBytes) {
    if (device_ != nullptr) memory_ = device_->make_memory(kProbeBytes, "trying routes");
  }
  std::byte* data() { return memory_ ? memory_->data() : host_.data(); }
  void write(const std::vector<std::byte>& bytes) {
    host_ = bytes;
    if (memory_) device_->write(memory_->data(), host_.data(), kProbeBytes);
  }
  const std::vector<std::byte>& read() {
    if (memory_) device_->read(host_.data(), memory_->data(), kProbeBytes);
    return host_;
  }

 private:
  Accelerator* device_;
  std::unique_ptr<DeviceMemory> memory_;
  std::vector<std::byte> host_;
};

/// Returns a table with this route between the two ranks. The other pairs exchange nothing.
RouteTable only(std::size_t ranks, const Route& route, Rank a, Rank b) {
  RouteTable table = RouteTable::uniform(ranks, routes().front());
  table.set(a, b, route);
  return table;
}

void push(DeviceChannel& channel, const auto& done) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeLimit;
  while (!done()) {
    channel.poll();
    if (std::chrono::steady_clock::now() > deadline) {
      throw RunError("no message arrived within " + std::to_string(kTimeLimit.count()) + " s");
    }
    std::this_thread::yield();
  }
}

/// One rank's side of a probe. Its steps are called by all ranks, one by one.
class RouteProbe {
 public:
  RouteProbe(Transport& transport, Accelerator* device, const Route& route, Rank a, Rank b)
      : transport_(transport),
        device_(device),
        first_(transport.rank() == a),
        takes_part_(first_ || transport.rank() == b),
        peer_(first_ ? b : a),
        table_(only(transport.size(), route, a, b)),
        tags_(transport.size(), kTagsOfProbe * static_cast<int>(index_of(route))),
        expected_(pattern(route, a, b)) {}

  void prepare() {
    if (!takes_part_) return;
    out_.emplace(device_);
    in_.emplace(device_);
    if (first_) out_->write(expected_);
  }

  void open() {
    std::vector<Message> sends, receives;
    if (takes_part_) {
      // The second rank sends the received bytes back out of the buffer that received them.
      std::byte* const from = (first_ ? out_ : in_)->data();
      sends = {{peer_, first_ ? kThere : kBack, from, kProbeBytes}};
      receives = {{peer_, first_ ? kBack : kThere, in_->data(), kProbeBytes}};
    }
    channel_ = open_device_channel(transport_, device_, table_, tags_,
                                   std::make_shared<OpenChannels>(), sends, receives);
  }

  void exchange() {
    if (!takes_part_) return;
    channel_->start_receives();
    if (!first_) {
      push(*channel_, [&] { return channel_->received(0); });
      channel_->await_receive(0);
    }
    channel_->start_send(0);
    push(*channel_, [&] { return channel_->finished(); });
    channel_->finish();
    if (device_ != nullptr) device_->synchronize();
    if (in_->read() != expected_) throw RunError("the received bytes differ from the sent ones");
  }

  void disconnect() {
    if (channel_) channel_->disconnect();
  }

 private:
  Transport& transport_;
  Accelerator* device_;
  bool first_, takes_part_;
  Rank peer_;
  RouteTable table_;
  TagBook tags_;
  std::vector<std::byte> expected_;
  std::optional<ProbeBuffer> out_, in_;
  std::unique_ptr<DeviceChannel> channel_;
};

/// Runs a step on all ranks; returns its failure on any rank, the same text on all. Collective.
template <class Step>
std::string joint_failure(Transport& transport, Step&& step) {
  std::string failure;
  try {
    step();
  } catch (const Error& error) {
    failure = printable(error.what(), 200);
  }
  return joint_message(gather(transport, failure));
}

}  // namespace

std::string probe_route(Transport& transport, Accelerator* device, const Route& route, Rank a,
                        Rank b) {
  RouteProbe probe(transport, device, route, a, b);
  std::string failure = joint_failure(transport, [&] { probe.prepare(); });
  if (failure.empty()) failure = joint_failure(transport, [&] { probe.open(); });
  if (failure.empty()) failure = joint_failure(transport, [&] { probe.exchange(); });
  probe.disconnect();
  transport.barrier();
  return failure;
}

int first_tag_after_probes() { return kTagsOfProbe * static_cast<int>(routes().size()); }

}  // namespace hios::mpi
