#include "engine/measure/transfers/transfer_times.h"

#include <cstring>
#include <memory>
#include <optional>

#include "engine/backend/host_copies.h"
#include "engine/host/clock.h"
#include "hios/base/numbers/statistics.h"

namespace hios {
namespace {

// The buffers of a rank that takes part, for all sizes.
struct Buffers {
  Buffers(Backend& the_backend, Bytes largest)
      : backend(the_backend),
        out(backend.allocate(largest, "the messages to be timed")),
        in(backend.allocate(largest, "the messages to be timed")),
        written(largest) {
    fill(backend, in->data(), largest, {});
  }

  // A run sends a tensor that it has just computed, which is in the sender's cache.
  void write(Bytes size_bytes) {
    std::memset(written.data(), ++value, size_bytes);
    backend.write(out->data(), written.data(), size_bytes);
  }

  Backend& backend;
  std::unique_ptr<Buffer> out, in;
  std::vector<std::byte> written;
  unsigned char value = 0;
};

// One end of a ping-pong between two ranks, over the channel that runs use. All ranks make one,
// because transports may open channels together; without buffers, a rank takes no part.
class PingPong {
 public:
  PingPong(mpi::Transport& transport, Buffers* buffers, Bytes size_bytes, Rank peer, bool first)
      : buffers_(buffers), size_bytes_(size_bytes), first_(first) {
    if (!buffers_) {
      channel_ = transport.open_channel({}, {});
      return;
    }
    const mpi::Message send{peer, 0, buffers->out->data(), size_bytes};
    const mpi::Message receive{peer, 0, buffers->in->data(), size_bytes};
    channel_ = transport.open_channel({&send, 1}, {&receive, 1});
    buffers_->write(size_bytes);
  }

  // Returns half a round trip on the rank that starts it, 0 on the others: the maximum is the
  // measurement. A round trip ends when the device has the tensor. The other rank returns it
  // without waiting for its device, because its send is in order after the receive.
  double round() {
    if (!buffers_) return 0;
    channel_->start_receives();
    const Stopwatch stopwatch;
    if (first_) channel_->start_send(0);
    channel_->await_receive(0);
    if (first_) buffers_->backend.synchronize();
    const double half = first_ ? stopwatch.ms() / 2 : 0;
    if (!first_) channel_->start_send(0);
    channel_->finish();
    buffers_->backend.synchronize();
    buffers_->write(size_bytes_);
    return half;
  }

  // Collective.
  void close(mpi::Transport& transport) {
    channel_->disconnect();
    transport.barrier();
  }

 private:
  std::unique_ptr<mpi::Channel> channel_;
  Buffers* buffers_;
  Bytes size_bytes_;
  bool first_;
};

}  // namespace

std::vector<Bytes> transfer_sizes(Bytes largest) {
  std::vector<Bytes> sizes;
  for (Bytes size = Bytes{1} << 10; size <= largest; size *= 2) sizes.push_back(size);
  return sizes;
}

std::optional<TransferCurve> transfer_times(mpi::Transport& transport, Backend& backend,
                                            const Protocol& protocol,
                                            DisturbanceReader& disturbance, Rank from, Rank to,
                                            Bytes largest) {
  TransferCurve curve{from.index(), to.index(), {}};
  const std::vector<Bytes> sizes = transfer_sizes(largest);
  const bool first = transport.rank() == from;
  const bool takes_part = first || transport.rank() == to;
  std::optional<Buffers> buffers;
  if (takes_part) buffers.emplace(backend, sizes.back());
  bool stopped = false;
  std::optional<Stopwatch> idle;  // since the messages of the last size
  for (const Bytes size : sizes) {
    PingPong ping_pong(transport, buffers ? &*buffers : nullptr, size, first ? to : from, first);
    // Other pairs were measured before the first size, or nothing.
    const double idle_s = idle ? idle->seconds() : kLongIdle;
    const Protocol rounds{.warmup = protocol.warmup,
                          .warmup_s = warmup_after(idle_s, protocol, transport),
                          .iterations = protocol.iterations,
                          .stop = protocol.stop};
    const Samples half = measure(transport, rounds, disturbance, [&] { return ping_pong.round(); });
    idle.emplace();
    ping_pong.close(transport);
    stopped = half.stopped;
    if (stopped) break;
    curve.points.emplace_back(size, summarize(half.ms, half.disturbed).best_quarter);
  }
  if (stopped) return {};
  return curve;
}

}  // namespace hios
