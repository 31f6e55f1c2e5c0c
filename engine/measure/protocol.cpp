#include "engine/measure/protocol.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hios/base/log.h"
#include "hios/base/numbers/statistics.h"

namespace hios {
namespace {

// Samples of each half; of fewer, the fastest quarter would be a single sample.
constexpr std::size_t kFewestInHalf = 8;

// Without a limit, runs that take no time would warm up forever.
constexpr std::size_t kMostWarmUps = 1'000'000;

constexpr double kClockRateHoldsS = 0.1;

double median_of_fastest(const Samples& samples, std::size_t first, std::size_t count) {
  const auto from = static_cast<std::ptrdiff_t>(first);
  const auto to = static_cast<std::ptrdiff_t>(first + count);
  const std::vector<bool> disturbed(samples.disturbed.begin() + from,
                                    samples.disturbed.begin() + to);
  return summarize(std::span(samples.ms).subspan(first, count), disturbed).best_quarter;
}

// Runs and collects the samples.
class MeasuringLoop {
 public:
  MeasuringLoop(mpi::Transport& transport, const Protocol& protocol, DisturbanceReader& reader,
                const std::function<double()>& once,
                const std::function<void(const RunsDone&)>& shown)
      : transport_(transport), protocol_(protocol), reader_(reader), once_(once), shown_(shown) {}

  void warm_up() {
    warm_ms_ += run().front();
    ++done_.warm_ups;
    if (shown_) shown_(done_);
  }
  void sample() {
    const auto [ms, disturbed, stop] = run();
    samples_.ms.push_back(ms);
    samples_.disturbed.push_back(disturbed > 0);
    measured_ms_ += ms;
    ++done_.samples;
    done_.measured_s = measured_ms_ / 1000;
    if (shown_) shown_(done_);
  }
  bool warm(const Protocol& protocol) const {
    return done_.warm_ups >= static_cast<std::size_t>(protocol.warmup) &&
           (warm_ms_ >= protocol.warmup_s * 1000 || done_.warm_ups >= kMostWarmUps);
  }
  const Samples& samples() const { return samples_; }
  std::size_t count() const { return samples_.ms.size(); }
  double measured_ms() const { return measured_ms_; }
  bool stopped() const { return samples_.stopped; }

 private:
  // The disturbance is read before the barrier, so that ranks start together.
  std::array<double, 3> run() {
    if (protocol_.before) protocol_.before();
    const DisturbanceCounts before = reader_.read();
    transport_.barrier();
    const double ms = once_();
    std::array<double, 3> result{ms, disturbed(before, reader_.read(), ms) ? 1.0 : 0.0,
                                 protocol_.stop && protocol_.stop() ? 1.0 : 0.0};
    transport_.all_reduce_max(result);
    samples_.stopped = result.back() > 0;
    return result;
  }

  mpi::Transport& transport_;
  const Protocol& protocol_;
  DisturbanceReader& reader_;
  const std::function<double()>& once_;
  const std::function<void(const RunsDone&)>& shown_;
  Samples samples_;
  RunsDone done_;
  double warm_ms_ = 0, measured_ms_ = 0;
};

}  // namespace

std::string progress_text(std::string_view what, const Protocol& protocol, const RunsDone& runs,
                          double elapsed_s) {
  const std::size_t done = runs.all();
  const std::size_t warmup = std::max(runs.warm_ups, static_cast<std::size_t>(protocol.warmup));
  auto iterations = static_cast<std::size_t>(protocol.iterations);
  const double each_s = runs.samples > 0 ? runs.measured_s / static_cast<double>(runs.samples) : 0;
  if (each_s > 0) {
    iterations = std::max(iterations,
                          static_cast<std::size_t>(std::ceil(protocol.duration_s / each_s - 1e-9)));
  }
  std::size_t planned = warmup + iterations;
  if (protocol.settle_s <= 0) planned = std::max(planned, done);
  if (done <= planned) {
    const auto left = static_cast<double>(planned - done);
    return log::progress_line(what, done, planned, elapsed_s / static_cast<double>(done) * left);
  }
  const auto beyond = static_cast<double>(done - planned);
  const auto most = static_cast<double>((kMostTimes - 1) * iterations);
  const double left_s = std::min(protocol.settle_s - beyond * each_s, (most - beyond) * each_s);
  return log::progress_line(
      std::string(what) + "  " + std::to_string(done) + ", until they settle, for " +
      std::to_string(std::lround(std::max(0.0, std::ceil(left_s - 1e-9)))) + " s more at most");
}

Json Protocol::json() const {
  Json json = {{"warmup", warmup}, {"iterations", iterations}, {"duration_s", duration_s}};
  if (warmup_s > 0) json["warmup_s"] = warmup_s;
  if (settle_s > 0) json["settle_s"] = settle_s;
  return json;
}

double warmup_after(double idle_s, const Protocol& wanted) {
  return idle_s > kClockRateHoldsS ? wanted.warmup_s : 0;
}

double warmup_after(double idle_s, const Protocol& wanted, mpi::Transport& transport) {
  if (wanted.warmup_s <= 0) return 0;
  transport.all_reduce_max({&idle_s, 1});
  return warmup_after(idle_s, wanted);
}

double undisturbed_median(std::span<const double> values, const std::vector<bool>& disturbed) {
  std::vector<double> quiet;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!disturbed[i]) quiet.push_back(values[i]);
  }
  return summarize(2 * quiet.size() >= values.size() ? std::span<const double>(quiet) : values)
      .median;
}

std::optional<double> difference_of_halves(const Samples& samples) {
  const std::size_t half = samples.ms.size() / 2;
  if (half < kFewestInHalf) return {};
  const double first = median_of_fastest(samples, 0, half);
  const double second = median_of_fastest(samples, half, samples.ms.size() - half);
  const double smaller = std::min(first, second);
  if (smaller <= 0) return first == second ? 0.0 : 1.0;
  return std::abs(first - second) / smaller;
}

Settling settling_of(const Samples& samples) {
  Settling settling{.sweeps = samples.ms.size(), .difference = difference_of_halves(samples)};
  settling.disturbed = static_cast<std::size_t>(
      std::count(samples.disturbed.begin(), samples.disturbed.end(), true));
  if (settling.difference) settling.settled = *settling.difference <= kSettledWithin;
  return settling;
}

// The maxima are the same on every rank, and so is the moment at which they suffice: ranks stop
// together without further messages.
Samples measure(mpi::Transport& transport, const Protocol& protocol, DisturbanceReader& reader,
                const std::function<double()>& once,
                const std::function<void(const RunsDone&)>& shown) {
  MeasuringLoop loop(transport, protocol, reader, once, shown);
  while (!loop.stopped() && !loop.warm(protocol)) loop.warm_up();
  const auto iterations = static_cast<std::size_t>(protocol.iterations);
  while (!loop.stopped() &&
         (loop.count() < iterations || loop.measured_ms() < protocol.duration_s * 1000)) {
    loop.sample();
  }
  const std::size_t most = std::max(loop.count() * kMostTimes, 2 * kFewestInHalf);
  const std::size_t step = std::max<std::size_t>(1, loop.count() / 4);
  const double end_ms = loop.measured_ms() + protocol.settle_s * 1000;
  const auto settled = [&] { return settling_of(loop.samples()).settled.value_or(false); };
  const auto may_continue = [&] {
    return !loop.stopped() && loop.count() < most && loop.measured_ms() < end_ms;
  };
  while (protocol.settle_s > 0 && may_continue() && !settled()) {
    for (std::size_t i = 0; i < step && may_continue(); ++i) loop.sample();
  }
  return loop.samples();
}

}  // namespace hios
