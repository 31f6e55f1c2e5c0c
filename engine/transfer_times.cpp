#include "engine/transfer_times.h"

#include <cstring>
#include <memory>

#include "hios/statistics.h"

namespace hios {
namespace {

// One end of a ping-pong between two ranks, over the channel that runs use.
class PingPong {
 public:
  PingPong(mpi::Transport& transport, std::byte* out, std::byte* in, Bytes size_bytes, Rank peer,
           bool first)
      : out_(out), size_bytes_(size_bytes), first_(first) {
    const mpi::Message send{peer, 0, out, size_bytes}, receive{peer, 0, in, size_bytes};
    channel_ = transport.open_channel({&send, 1}, {&receive, 1});
    write();
  }

  // Half a round trip on the rank that begins it, 0 on the other: the maximum is the measurement.
  double round() {
    channel_->start_receives();
    const Stopwatch stopwatch;
    if (first_) channel_->start_send(0);
    channel_->await_receive(0);
    const double half = first_ ? stopwatch.ms() / 2 : 0;
    if (!first_) channel_->start_send(0);
    channel_->finish();
    write();
    return half;
  }

 private:
  // A run sends what it has just computed, so what lies in the sender's cache.
  void write() { std::memset(out_, ++value_, size_bytes_); }

  std::unique_ptr<mpi::Channel> channel_;
  std::byte* out_;
  Bytes size_bytes_;
  bool first_;
  unsigned char value_ = 0;
};

}  // namespace

std::vector<Bytes> transfer_sizes() {
  std::vector<Bytes> sizes;
  for (int power = 10; power <= 24; ++power) sizes.push_back(Bytes{1} << power);
  return sizes;
}

TransferCurve transfer_times(mpi::Transport& transport, Backend& backend, const Protocol& protocol,
                             Rank from, Rank to) {
  TransferCurve curve{from.index(), to.index(), {}};
  const std::vector<Bytes> sizes = transfer_sizes();
  const bool first = transport.rank() == from;
  const bool takes_part = first || transport.rank() == to;
  std::unique_ptr<Buffer> out, in;
  if (takes_part) {
    out = backend.allocate(sizes.back(), "the messages to be timed");
    in = backend.allocate(sizes.back(), "the messages to be timed");
    std::memset(in->data(), 0, sizes.back());
  }
  for (const Bytes size : sizes) {
    std::unique_ptr<PingPong> ping_pong;
    if (takes_part) {
      ping_pong = std::make_unique<PingPong>(transport, out->data(), in->data(), size,
                                             first ? to : from, first);
    }
    const Protocol rounds{protocol.warmup, protocol.iterations, 0};
    const std::vector<double> half_ms =
        measure(transport, rounds, [&] { return ping_pong ? ping_pong->round() : 0; });
    curve.points.emplace_back(size, summarize(half_ms).best_quarter);
  }
  return curve;
}

}  // namespace hios
