#include "engine/measure/protocol.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hios/base/statistics.h"

namespace hios {
namespace {

// In each half: below, its fastest quarter is a single sample.
constexpr std::size_t kFewestInHalf = 8;

double median_of_fastest(const Samples& samples, std::size_t first, std::size_t count) {
  const auto from = static_cast<std::ptrdiff_t>(first);
  const auto to = static_cast<std::ptrdiff_t>(first + count);
  const std::vector<bool> disturbed(samples.disturbed.begin() + from,
                                    samples.disturbed.begin() + to);
  return summarize(std::span(samples.ms).subspan(first, count), disturbed).best_quarter;
}

// Runs, and remembers what came out.
class MeasuringLoop {
 public:
  MeasuringLoop(mpi::Transport& transport, DisturbanceReader& reader,
                const std::function<double()>& once)
      : transport_(transport), reader_(reader), once_(once) {}

  void warm_up() { run(); }
  void sample() {
    const auto [ms, disturbed] = run();
    samples_.ms.push_back(ms);
    samples_.disturbed.push_back(disturbed > 0);
    measured_ms_ += ms;
  }
  const Samples& samples() const { return samples_; }
  std::size_t count() const { return samples_.ms.size(); }
  double measured_ms() const { return measured_ms_; }

 private:
  // Read before the barrier, so that ranks start together.
  std::array<double, 2> run() {
    const DisturbanceCounts before = reader_.read();
    transport_.barrier();
    const double ms = once_();
    std::array<double, 2> result{ms, disturbed(before, reader_.read(), ms) ? 1.0 : 0.0};
    transport_.all_reduce_max(result);
    return result;
  }

  mpi::Transport& transport_;
  DisturbanceReader& reader_;
  const std::function<double()>& once_;
  Samples samples_;
  double measured_ms_ = 0;
};

}  // namespace

Json Protocol::json() const {
  Json json = {{"warmup", warmup}, {"iterations", iterations}, {"duration_s", duration_s}};
  if (settle_s > 0) json["settle_s"] = settle_s;
  return json;
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
  settling.settled = settling.difference.value_or(0) <= kSettledWithin;
  return settling;
}

// The maxima are the same on every rank, and so is the moment at which they suffice: ranks stop
// together without telling each other.
Samples measure(mpi::Transport& transport, const Protocol& protocol, DisturbanceReader& reader,
                const std::function<double()>& once) {
  MeasuringLoop loop(transport, reader, once);
  for (int i = 0; i < protocol.warmup; ++i) loop.warm_up();
  const auto iterations = static_cast<std::size_t>(protocol.iterations);
  while (loop.count() < iterations || loop.measured_ms() < protocol.duration_s * 1000) {
    loop.sample();
  }
  const std::size_t most = std::max(loop.count() * kMostTimes, 2 * kFewestInHalf);
  const std::size_t step = std::max<std::size_t>(1, loop.count() / 4);
  const double end_ms = loop.measured_ms() + protocol.settle_s * 1000;
  const auto settled = [&] {
    const auto difference = difference_of_halves(loop.samples());
    return difference && *difference <= kSettledWithin;
  };
  while (protocol.settle_s > 0 && loop.count() < most && loop.measured_ms() < end_ms &&
         !settled()) {
    for (std::size_t i = 0; i < step && loop.count() < most && loop.measured_ms() < end_ms; ++i) {
      loop.sample();
    }
  }
  return loop.samples();
}

}  // namespace hios
