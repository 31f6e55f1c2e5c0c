#include "mpi/device/route_probe.h"

#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "mpi/device/open_device_channel.h"
#include "mpi/exchange.h"
#include "mpi/routes/staged.h"
#include "mpi/session/agreement.h"

// Claims of a library or a device are no proof: an MPI may call itself CUDA-aware although the
// support has been switched off, and a mapping may succeed and show other memory. So unguessable
// bytes travel from a to b and back, and both ranks check them, since two errors on the way could
// cancel each other. A small message and a large one travel, since libraries send them by different
// protocols: the small one with its envelope, the large one after the receiver has said where to.
// The two ranks of a pair agree on whether a step failed before either waits for a message, and the
// exchange has a time limit. Steps are collective, so a pair that has failed takes part in the
// others' with no message. MPI cannot take back a message that the other side has started to send,
// so the memory of a failed exchange is never freed.
namespace hios::mpi {
namespace {

constexpr std::array<Bytes, 2> kMessageBytes = {4096, 1 << 20};
constexpr Bytes kProbeBytes = kMessageBytes[0] + kMessageBytes[1];
constexpr int kThere = 1, kBack = 1 + static_cast<int>(kMessageBytes.size());

/// Returns the tags that a probe takes in a direction of a pair: those of the route that sends in
/// chunks, since the others take one a message.
int tags_of_probe() {
  std::size_t tags = 0;
  for (const Bytes size_bytes : kMessageBytes) tags += staging_chunks(size_bytes).size();
  return static_cast<int>(tags);
}

/// An exchange that was given up.
class WaitedInVain : public RunError {
  using RunError::RunError;
};

std::vector<std::byte> pattern(const Route& route, Rank a, Rank b) {
  Random random(a.index() * 1000 + b.index(), route.name);
  std::vector<std::byte> bytes(kProbeBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

/// Keeps memory that outlives the transport and the device which it is of: no destructor runs.
void keep_until_process_ends(std::shared_ptr<void> memory) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  static std::mutex mutex;  // in tests ranks are threads
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(memory));
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

/// Returns a table with this route between the ranks of the pairs. The others exchange nothing.
RouteTable only(std::size_t ranks, const Route& route, std::span<const RankPair> pairs,
                const SharedByRoutes& shared) {
  RouteTable table = RouteTable::uniform(ranks, routes().front());
  table.shared = shared;
  for (const auto& [a, b] : pairs) table.set(a, b, route);
  return table;
}

std::string seconds_text(std::chrono::milliseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", static_cast<double>(time.count()) / 1000);
  return text.data();
}

/// One rank's side of a round of probes. Its steps are called by all ranks, one by one.
class RouteProbe {
 public:
  RouteProbe(Transport& transport, Accelerator* device, const Route& route,
             std::span<const RankPair> pairs, const SharedByRoutes& shared,
             std::chrono::milliseconds patience)
      : transport_(transport),
        device_(device),
        patience_(patience),
        is_group_(route.join != nullptr),
        table_(only(transport.size(), route, pairs, shared)),
        tags_(transport.size(), tags_of_probe() * static_cast<int>(index_of(route))) {
    for (const auto& [a, b] : pairs) {
      if (transport.rank() != a && transport.rank() != b) continue;
      takes_part_ = true;
      first_ = transport.rank() == a;
      peer_ = first_ ? b : a;
      expected_ = pattern(route, a, b);
    }
  }

  void prepare() {
    if (!takes_part_) return;
    memory_ = std::make_shared<Memory>(device_);
    if (first_) memory_->out.write(expected_);
  }

  void open() {
    std::vector<Message> sends, receives;
    if (takes_part_) {
      // The second rank sends the received bytes back out of the buffer that received them.
      std::byte* from = (first_ ? memory_->out : memory_->in).data();
      std::byte* to = memory_->in.data();
      for (std::size_t i = 0; i < kMessageBytes.size(); ++i) {
        const int tag = static_cast<int>(i);
        sends.push_back({peer_, (first_ ? kThere : kBack) + tag, from, kMessageBytes[i]});
        receives.push_back({peer_, (first_ ? kBack : kThere) + tag, to, kMessageBytes[i]});
        from += kMessageBytes[i];
        to += kMessageBytes[i];
      }
    }
    channel_ =
        open_device_channel(transport_, device_, table_, tags_, std::make_shared<OpenChannels>(),
                            sends, receives, Concerned::kPeers);
  }

  void exchange() {
    if (!takes_part_) return;
    deadline_ = std::chrono::steady_clock::now() + patience_;
    under_way_ = true;
    channel_->start_receives();
    for (std::size_t i = 0; i < kMessageBytes.size(); ++i) {
      if (!first_) {
        push_until([&] { return channel_->received(i); });
        channel_->await_receive(i);
      }
      channel_->start_send(i);
    }
    push_until([&] { return channel_->finished(); });
    channel_->finish();
    under_way_ = false;
    if (device_ != nullptr) device_->synchronize();
    if (memory_->in.read() != expected_)
      throw RunError("the received bytes differ from the sent ones");
  }

  /// Takes no part in later steps: the pair has failed.
  void give_up() { takes_part_ = false; }

  void disconnect() {
    if (channel_) channel_->disconnect();
  }

  /// Keeps what messages under way may still write to, if there are any. The endpoints of a group,
  /// which ends before the process, own no such memory.
  void keep_memory() {
    if (!under_way_) return;
    channel_->take_back();
    if (!is_group_) memory_->channel = std::move(channel_);
    keep_until_process_ends(memory_);
  }

 private:
  struct Memory {
    explicit Memory(Accelerator* device) : out(device), in(device) {}
    ProbeBuffer out, in;
    std::unique_ptr<DeviceChannel> channel;  // of a failed exchange, whose endpoints have memory
  };

  void push_until(const auto& done) {
    while (!done()) {
      channel_->poll();
      if (std::chrono::steady_clock::now() > deadline_) {
        throw WaitedInVain("not all messages arrived within " + seconds_text(patience_));
      }
      std::this_thread::yield();
    }
  }

  Transport& transport_;
  Accelerator* device_;
  const std::chrono::milliseconds patience_;
  const bool is_group_;
  bool first_ = false, takes_part_ = false, under_way_ = false;
  std::chrono::steady_clock::time_point deadline_;
  Rank peer_;
  RouteTable table_;
  TagBook tags_;
  std::vector<std::byte> expected_;
  std::shared_ptr<Memory> memory_;
  std::unique_ptr<DeviceChannel> channel_;
};

/// A rank's failure in a step.
struct StepFailure {
  std::string text;
  bool timed_out = false;
  static auto fields(auto& self) { return std::tie(self.text, self.timed_out); }
};

/// Returns the failure of a pair. If one rank waited in vain for the other, which failed by itself,
/// the latter's counts.
std::string failure_of(const RankPair& pair, const std::vector<StepFailure>& by_rank) {
  const std::size_t first = pair.first.index(), second = pair.second.index();
  if (by_rank[first].text == by_rank[second].text) return by_rank[first].text;
  const auto is_cause = [&](std::size_t rank) {
    return !by_rank[rank].text.empty() && !by_rank[rank].timed_out;
  };
  std::vector<std::string> messages(by_rank.size());
  for (const auto& [rank, other] : {std::pair(first, second), std::pair(second, first)}) {
    if (is_cause(rank) || !is_cause(other)) messages[rank] = by_rank[rank].text;
  }
  return joint_message(messages);
}

/// Runs a step on all ranks, and notes its failures: a pair has failed if either of its ranks has.
/// Collective.
template <class Step>
void run_jointly(Transport& transport, std::span<const RankPair> pairs, RouteProbe& probe,
                 std::vector<ProbeResult>& results, Step&& step) {
  StepFailure failure;
  try {
    step();
  } catch (const WaitedInVain& error) {
    failure = {printable(error.what(), 200), true};
  } catch (const Error& error) {
    failure.text = printable(error.what(), 200);
  }
  const std::vector<StepFailure> by_rank = gather(transport, failure);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!results[i].failure.empty()) continue;
    const auto& [first, second] = pairs[i];
    results[i].failure = failure_of(pairs[i], by_rank);
    results[i].timed_out = by_rank[first.index()].timed_out || by_rank[second.index()].timed_out;
    const bool mine = transport.rank() == first || transport.rank() == second;
    if (mine && !results[i].failure.empty()) probe.give_up();
  }
}

}  // namespace

std::vector<ProbeResult> probe_route(Transport& transport, Accelerator* device, const Route& route,
                                     std::span<const RankPair> pairs, const SharedByRoutes& shared,
                                     std::chrono::milliseconds patience) {
  RouteProbe probe(transport, device, route, pairs, shared, patience);
  std::vector<ProbeResult> results(pairs.size());
  run_jointly(transport, pairs, probe, results, [&] { probe.prepare(); });
  run_jointly(transport, pairs, probe, results, [&] { probe.open(); });
  run_jointly(transport, pairs, probe, results, [&] { probe.exchange(); });
  probe.disconnect();
  transport.barrier();
  probe.keep_memory();
  return results;
}

int first_tag_after_probes() { return tags_of_probe() * static_cast<int>(routes().size()); }

}  // namespace hios::mpi
