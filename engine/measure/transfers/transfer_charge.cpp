// Both ends run the same list of operators, and a tensor is sent only after the one before can have
// arrived: a transfer's own time is measured, not a queue of transfers. Tensors take a few buffers
// in turn, as in runs. The sender writes each tensor before it would send it, in both kinds of
// runs. Only the calls are timed, not the work between them: a machine's noise in the work would
// hide small tensors. So the charge leaves out that messages drive the work's data out of caches;
// in a run the consumer reads these tensors anyway. Tests:
// tests/engine/measure/transfers/charges_test.cpp.
#include "engine/measure/transfers/transfer_charge.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "hios/base/numbers/statistics.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

constexpr std::size_t kBuffers = 4;
constexpr double kTransfersMs = 10;  // about the sum over the tensors of a run
constexpr std::size_t kFewestTensors = 2;
constexpr double kApart = 2.5;  // the interval between tensors, in times of a transfer
constexpr double kTail = 0.3;   // the share of the work after the last tensor was sent
constexpr double kLeastOperatorMs = 1e-3;
constexpr std::size_t kMostOperatorsApart = 512;
constexpr unsigned kPollsBeforeYield = 64;

/// The number of tensors in a run, and their times in operators.
struct Traffic {
  std::size_t tensors = 0;
  std::size_t step = 1;   ///< operators from one tensor to the next
  std::size_t steps = 0;  ///< operators in all

  explicit Traffic(const TransferToCharge& transfer) {
    const double transfer_ms = std::max(transfer.transfer_ms, 1e-4);
    tensors = static_cast<std::size_t>(std::clamp(kTransfersMs / transfer_ms,
                                                  static_cast<double>(kFewestTensors),
                                                  static_cast<double>(transfer.most_tensors)));
    const double apart =
        std::ceil(kApart * transfer_ms / std::max(transfer.operator_ms, kLeastOperatorMs));
    step =
        static_cast<std::size_t>(std::clamp(apart, 1.0, static_cast<double>(kMostOperatorsApart)));
    steps = static_cast<std::size_t>(std::ceil(static_cast<double>(tensors * step) * (1 + kTail)));
  }
};

/// One of the buffers that tensors take in turn, at one of the two ends.
struct TensorBuffer {
  std::unique_ptr<Buffer> tensor;
  std::unique_ptr<mpi::Channel> channel;
  std::size_t left = 0;  ///< iterations of the channel still to be started, in this run
};

class ChargedRuns {
 public:
  ChargedRuns(const ProfilerContext& context, BlockRun* work, const TransferToCharge& transfer);
  const Traffic& traffic() const { return traffic_; }
  /// Returns this end's time in ms; 0 on ranks that take no part.
  double run(bool with_messages);
  /// Returns the time of the last run in calls for messages.
  double message_ms() const { return message_ms_; }

 private:
  void begin();
  void step(std::size_t i, bool with_messages);
  void send(TensorBuffer& buffer, bool with_messages);
  void poll();
  bool done() const;
  template <class Done>
  void spin_until(Done&& done);

  BlockRun* work_;
  const bool sends_;
  const Bytes size_bytes_;
  const Traffic traffic_;
  std::vector<TensorBuffer> buffers_;
  unsigned char value_ = 0;
  double message_ms_ = 0;
};

// Every rank opens as many channels, because transports may open them together.
ChargedRuns::ChargedRuns(const ProfilerContext& context, BlockRun* work,
                         const TransferToCharge& transfer)
    : work_(work),
      sends_(context.transport.rank() == transfer.from),
      size_bytes_(transfer.size_bytes),
      traffic_(transfer),
      buffers_(std::min(kBuffers, traffic_.tensors)) {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    TensorBuffer& buffer = buffers_[b];
    if (!work_) {
      buffer.channel = context.transport.open_channel({}, {});
      continue;
    }
    buffer.tensor = context.backend.allocate(size_bytes_, "the messages to be charged");
    std::memset(buffer.tensor->data(), 0, size_bytes_);
    const mpi::Message message{sends_ ? transfer.to : transfer.from, static_cast<int>(b),
                               buffer.tensor->data(), size_bytes_, sends_};
    const std::span<const mpi::Message> one(&message, 1), none;
    buffer.channel = context.transport.open_channel(sends_ ? one : none, sends_ ? none : one);
  }
}

template <class Done>
void ChargedRuns::spin_until(Done&& is_done) {
  for (unsigned spins = 0; !is_done(); ++spins) {
    poll();
    if (spins >= kPollsBeforeYield) std::this_thread::yield();
  }
}

void ChargedRuns::begin() {
  for (std::size_t b = 0; b < buffers_.size(); ++b) {
    const std::size_t tensors = (traffic_.tensors - b + buffers_.size() - 1) / buffers_.size();
    buffers_[b].left = sends_ ? tensors : tensors - 1;
    if (!sends_) buffers_[b].channel->start_receives();
  }
}

// A received buffer is posted again at once, as by ranks that have read it.
void ChargedRuns::poll() {
  const Stopwatch stopwatch;
  for (TensorBuffer& buffer : buffers_) {
    buffer.channel->poll();
    if (sends_ || buffer.left == 0 || !buffer.channel->finished()) continue;
    buffer.channel->start_receives();
    --buffer.left;
  }
  message_ms_ += stopwatch.ms();
}

bool ChargedRuns::done() const {
  return std::ranges::all_of(buffers_, [](const TensorBuffer& buffer) {
    return buffer.left == 0 && buffer.channel->finished();
  });
}

void ChargedRuns::send(TensorBuffer& buffer, bool with_messages) {
  if (with_messages) spin_until([&] { return buffer.channel->finished(); });
  std::memset(buffer.tensor->data(), ++value_, size_bytes_);
  if (!with_messages) return;
  const Stopwatch stopwatch;
  buffer.channel->start_receives();
  buffer.channel->start_send(0);
  message_ms_ += stopwatch.ms();
  --buffer.left;
}

void ChargedRuns::step(std::size_t i, bool with_messages) {
  const std::size_t tensor = i / traffic_.step;
  if (sends_ && i % traffic_.step == 0 && tensor < traffic_.tensors)
    send(buffers_[tensor % buffers_.size()], with_messages);
  poll();
  work_->run(
      i % work_->size(), [](void* runs) { static_cast<ChargedRuns*>(runs)->poll(); }, this);
}

double ChargedRuns::run(bool with_messages) {
  message_ms_ = 0;
  if (!work_) return 0;
  const Stopwatch stopwatch;
  if (with_messages) begin();
  for (std::size_t i = 0; i < traffic_.steps; ++i) step(i, with_messages);
  if (with_messages) spin_until([&] { return done(); });
  return stopwatch.ms();
}

}  // namespace

std::optional<ChargedTransfer> charge_of_transfer(const ProfilerContext& context, BlockRun* work,
                                                  const TransferToCharge& transfer,
                                                  const Protocol& rounds) {
  Samples samples;
  std::vector<double> extra_ms;  // a tensor, on this rank
  {
    ChargedRuns runs(context, work, transfer);
    const auto tensors = static_cast<double>(runs.traffic().tensors);
    const Protocol plain{
        .warmup = rounds.warmup, .iterations = rounds.iterations, .stop = rounds.stop};
    samples = measure(context.transport, plain, context.disturbance, [&] {
      double sum_ms = 0, message_ms[2] = {0, 0};
      const bool first = extra_ms.size() % 2 == 1;
      for (const bool with_messages : {first, !first}) {
        context.transport.barrier();
        sum_ms += runs.run(with_messages);
        message_ms[with_messages] = runs.message_ms();
      }
      extra_ms.push_back((message_ms[true] - message_ms[false]) / tensors);
      return sum_ms;
    });
    context.transport.barrier();  // no peer maps the memory any more
  }
  if (samples.stopped || samples.ms.empty()) return {};
  extra_ms.erase(extra_ms.begin(), extra_ms.end() - static_cast<std::ptrdiff_t>(samples.ms.size()));
  const auto all = mpi::gather(context.transport, undisturbed_median(extra_ms, samples.disturbed));
  return ChargedTransfer{all[transfer.from.index()], all[transfer.to.index()],
                         static_cast<std::int64_t>(samples.ms.size())};
}

}  // namespace hios
