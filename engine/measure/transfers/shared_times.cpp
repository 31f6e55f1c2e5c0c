#include "engine/measure/transfers/shared_times.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/host/clock.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/base/numbers/statistics.h"

namespace hios {
namespace {

using Words = std::span<std::uint64_t>;

/// Returns the time in which all words are written. Each differs from the last time, as those of a
/// computed tensor do.
double write_ms(Words words, std::uint64_t& seed) {
  const Stopwatch stopwatch;
  for (std::uint64_t& word : words) word = ++seed;
  return stopwatch.ms();
}

/// Returns the time in which all words are read once.
double read_ms(Words words, std::uint64_t& sum) {
  const Stopwatch stopwatch;
  std::uint64_t all = 0;
  for (const std::uint64_t word : words) all += word;
  sum += all;  // so that the reads are made
  return stopwatch.ms();
}

/// A rank that takes part, with a tensor of one size.
class SharedReads {
 public:
  SharedReads(mpi::Transport& transport, const SharingPair& pair, Words shared, Words own)
      : shared_(shared), own_(own), writes_(transport.rank() == pair.from) {
    const bool reads = transport.rank() == pair.to;
    const mpi::Message signal{writes_ ? pair.to : pair.from, 0,
                              reinterpret_cast<std::byte*>(&written_ms_), sizeof written_ms_};
    const std::span<const mpi::Message> one(&signal, 1), none;
    channel_ = transport.open_channel(writes_ ? one : none, reads ? one : none);
    reads_ = reads;
  }

  /// Returns the times of the writer and of the reader, on the reader; 0 on the other ranks.
  double of_other() {
    channel_->start_receives();
    double ms = 0;
    if (writes_) {
      written_ms_ = write_ms(shared_, value_);
      channel_->start_send(0);
    } else if (reads_) {
      channel_->await_receive(0);
      ms = written_ms_ + read_ms(shared_, value_);
    }
    channel_->finish();
    return ms;
  }

  /// Returns the same for a tensor that the reader has written itself.
  double of_own() {
    if (!reads_) return 0;
    const double written_ms = write_ms(own_, value_);
    return written_ms + read_ms(own_, value_);
  }

 private:
  std::unique_ptr<mpi::Channel> channel_;
  const Words shared_, own_;
  const bool writes_;
  bool reads_ = false;
  std::uint64_t value_ = 0;
  double written_ms_ = 0;  // the message
};

}  // namespace

std::optional<CurvePoints> shared_times(mpi::Transport& transport, Backend& backend,
                                        const Protocol& protocol, DisturbanceReader& disturbance,
                                        const SharingPair& pair, Bytes largest) {
  Protocol rounds{
      .warmup = protocol.warmup, .iterations = protocol.iterations, .stop = protocol.stop};
  Stopwatch idle;  // since the last messages
  const std::vector<Bytes> sizes = transfer_sizes(largest);
  const auto own = pair.arena ? backend.allocate(sizes.back(), "the tensors to be timed") : nullptr;
  std::byte* const mine_alone = own ? own->data() : nullptr;
  CurvePoints points;
  for (const Bytes size : sizes) {
    const std::size_t words = pair.arena ? size / sizeof(std::uint64_t) : 0;
    SharedReads reads(transport, pair, Words(reinterpret_cast<std::uint64_t*>(pair.arena), words),
                      Words(reinterpret_cast<std::uint64_t*>(mine_alone), words));
    rounds.warmup_s = warmup_after(idle.seconds(), protocol, transport);
    const Samples other = measure(transport, rounds, disturbance, [&] { return reads.of_other(); });
    if (other.stopped) return {};
    const Samples mine = measure(transport, rounds, disturbance, [&] { return reads.of_own(); });
    if (mine.stopped) return {};
    idle = Stopwatch();
    const auto best = [](const Samples& samples) {
      return summarize(samples.ms, samples.disturbed).best_quarter;
    };
    points.emplace_back(size, pair.signal_ms + std::max(0.0, best(other) - best(mine)));
  }
  return points;
}

}  // namespace hios
