// Both ends run the same list of operators, and no tensor follows another before that one can have
// gone through: what is measured is a transfer's own time, not a queue of them. Tensors take a few
// places in turn, as in runs. The sender writes each tensor before it would send it, in both kinds
// of runs. It is the calls that are timed, not the work beside them: a machine's noise in the work
// would drown small tensors. That messages drive the work's data out of caches is left out so; in a
// run the tensors have to be there for somebody to read them. Tests:
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

constexpr std::size_t kPlaces = 4;
constexpr double kTransfersMs = 10;  // of all in a run, about
constexpr std::size_t kFewestTensors = 2, kMostTensors = 12;
constexpr double kApart = 2.5;  // times a transfer's time, from one to the next
constexpr double kTail = 0.3;   // of the work, after the last has been sent
constexpr double kLeastOperatorMs = 1e-3;
constexpr std::size_t kMostOperatorsApart = 512;
constexpr unsigned kTurnsBeforeYield = 64;

/// How many tensors go in a run, and when.
struct Traffic {
  std::size_t tensors = 0;
  std::size_t step = 1;   ///< operators from one to the next
  std::size_t steps = 0;  ///< operators in all

  explicit Traffic(const TransferToCharge& transfer) {
    const double transfer_ms = std::max(transfer.transfer_ms, 1e-4);
    tensors = static_cast<std::size_t>(std::clamp(kTransfersMs / transfer_ms,
                                                  static_cast<double>(kFewestTensors),
                                                  static_cast<double>(kMostTensors)));
    const double apart =
        std::ceil(kApart * transfer_ms / std::max(transfer.operator_ms, kLeastOperatorMs));
    step =
        static_cast<std::size_t>(std::clamp(apart, 1.0, static_cast<double>(kMostOperatorsApart)));
    steps = static_cast<std::size_t>(std::ceil(static_cast<double>(tensors * step) * (1 + kTail)));
  }
};

/// A place that tensors take in turn, at one of the two ends.
struct Place {
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
  /// Of the last run, in calls for messages.
  double message_ms() const { return message_ms_; }

 private:
  void begin();
  void step(std::size_t i, bool with_messages);
  void send(Place& place, bool with_messages);
  void poll();
  bool done() const;
  template <class Done>
  void spin_until(Done&& done);

  BlockRun* work_;
  const bool sends_;
  const Bytes size_bytes_;
  const Traffic traffic_;
  std::vector<Place> places_;
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
      places_(std::min(kPlaces, traffic_.tensors)) {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    Place& place = places_[p];
    if (!work_) {
      place.channel = context.transport.open_channel({}, {});
      continue;
    }
    place.tensor = context.backend.allocate(size_bytes_, "the messages to be charged");
    std::memset(place.tensor->data(), 0, size_bytes_);
    const mpi::Message message{sends_ ? transfer.to : transfer.from, static_cast<int>(p),
                               place.tensor->data(), size_bytes_, sends_};
    const std::span<const mpi::Message> one(&message, 1), none;
    place.channel = context.transport.open_channel(sends_ ? one : none, sends_ ? none : one);
  }
}

template <class Done>
void ChargedRuns::spin_until(Done&& is_done) {
  for (unsigned turns = 0; !is_done(); ++turns) {
    poll();
    if (turns >= kTurnsBeforeYield) std::this_thread::yield();
  }
}

void ChargedRuns::begin() {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const std::size_t tensors = (traffic_.tensors - p + places_.size() - 1) / places_.size();
    places_[p].left = sends_ ? tensors : tensors - 1;
    if (!sends_) places_[p].channel->start_receives();
  }
}

// What has been received is posted again at once, as by ranks that have read it.
void ChargedRuns::poll() {
  const Stopwatch stopwatch;
  for (Place& place : places_) {
    place.channel->poll();
    if (sends_ || place.left == 0 || !place.channel->finished()) continue;
    place.channel->start_receives();
    --place.left;
  }
  message_ms_ += stopwatch.ms();
}

bool ChargedRuns::done() const {
  return std::ranges::all_of(
      places_, [](const Place& place) { return place.left == 0 && place.channel->finished(); });
}

void ChargedRuns::send(Place& place, bool with_messages) {
  if (with_messages) spin_until([&] { return place.channel->finished(); });
  std::memset(place.tensor->data(), ++value_, size_bytes_);
  if (!with_messages) return;
  const Stopwatch stopwatch;
  place.channel->start_receives();
  place.channel->start_send(0);
  message_ms_ += stopwatch.ms();
  --place.left;
}

void ChargedRuns::step(std::size_t i, bool with_messages) {
  const std::size_t tensor = i / traffic_.step;
  if (sends_ && i % traffic_.step == 0 && tensor < traffic_.tensors)
    send(places_[tensor % places_.size()], with_messages);
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

/// Of the runs that were not disturbed, while half of them are left.
double median_of(const std::vector<double>& extra_ms, const std::vector<bool>& disturbed) {
  std::vector<double> quiet;
  for (std::size_t i = 0; i < extra_ms.size(); ++i) {
    if (!disturbed[i]) quiet.push_back(extra_ms[i]);
  }
  return summarize(2 * quiet.size() >= extra_ms.size() ? quiet : extra_ms).median;
}

}  // namespace

std::optional<ChargedTransfer> charge_of_transfer(const ProfilerContext& context, BlockRun* work,
                                                  const TransferToCharge& transfer) {
  Samples samples;
  std::vector<double> extra_ms;  // a tensor, on this rank
  {
    ChargedRuns runs(context, work, transfer);
    const Protocol rounds{.warmup = context.protocol.warmup,
                          .iterations = context.protocol.iterations,
                          .stop = context.protocol.stop};
    const auto tensors = static_cast<double>(runs.traffic().tensors);
    samples = measure(context.transport, rounds, context.disturbance, [&] {
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
  const auto all = mpi::gather(context.transport, median_of(extra_ms, samples.disturbed));
  return ChargedTransfer{all[transfer.from.index()], all[transfer.to.index()],
                         static_cast<std::int64_t>(samples.ms.size())};
}

}  // namespace hios
