#include "engine/job/inferences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/host/clock.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "mpi/exchange.h"

namespace hios::job {
namespace {

// Short, because ranks stop between runs only, and launchers wait for a second.
constexpr double kRunMs = 200;

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Starts and ends of a run's inferences, over all ranks.
struct Moments {
  std::vector<double> start_ms, end_ms;  // by the inference's index
};

class Measuring {
 public:
  Measuring(const InferencesJob& job, Pipeline& pipeline) : job_(job), pipeline_(pipeline) {
    measured_.options = job.options;
    const auto hosts = mpi::gather(job.transport, job.transport.host());
    const std::string& here = hosts[job.transport.rank().index()];
    while (hosts[first_of_host_] != here) ++first_of_host_;
  }

  MeasuredInferences measure() {
    const auto warm_up = static_cast<std::size_t>(std::max(job_.protocol.warmup, 1));
    std::size_t count = rounded_up(std::max(warm_up, fill() + copies()), copies());
    double period_ms = 0, warm_ms = 0;
    do {
      period_ms = run(count);
      warm_ms += last_ms_;
      count = std::max(count, rounded_up(static_cast<std::size_t>(kRunMs / period_ms), copies()));
    } while (!measured_.stopped && warm_ms < job_.protocol.warmup_s * 1000);
    const std::size_t least =
        rounded_up(std::max(fill() + steady(period_ms), job_.options.inputs), copies());
    const auto wanted = static_cast<std::size_t>(job_.protocol.iterations);
    const double duration_ms = job_.protocol.duration_s * 1000;
    const Stopwatch stopwatch;
    log::Progress shown("running inference");
    while (!measured_.stopped && (measured_.inferences < wanted || measured_ms_ < duration_ms)) {
      const std::size_t left = wanted - std::min(wanted, measured_.inferences);
      const double left_ms =
          std::max(duration_ms - measured_ms_, static_cast<double>(left) * period_ms);
      count = std::max(least, static_cast<std::size_t>(std::min(left_ms, kRunMs) / period_ms));
      period_ms = run(rounded_up(count, copies()));
      keep();
      shown.update(measured_.inferences,
                   measured_.inferences +
                       static_cast<std::size_t>(std::max(0.0, left_ms - kRunMs) / period_ms),
                   std::max(0.0, left_ms - kRunMs) / 1000);
    }
    gather_ranks();
    return std::move(measured_);
  }

 private:
  std::size_t copies() const { return job_.options.copies; }
  /// Inferences until the pipeline is full.
  std::size_t fill() const { return copies() * (job_.devices + job_.options.in_flight); }

  /// Returns the smallest number of inferences of a run that count: several times those that a
  /// stall may delay and release together, but not so many that the run is much longer than others.
  std::size_t steady(double period_ms) const {
    const auto fewest = static_cast<double>(4 * copies());
    const auto in_flight = static_cast<double>(std::max<std::size_t>(4, job_.options.in_flight));
    return static_cast<std::size_t>(std::clamp(kRunMs / period_ms, fewest, fewest * in_flight));
  }

  /// Runs so many inferences. Returns the period in ms, the same on all ranks.
  double run(std::size_t inferences) {
    std::vector<InferenceTimes> times(inferences / copies());
    const DisturbanceCounts before = job_.reader.read();
    job_.transport.barrier();
    pipeline_.run(times);
    const double ms = pipeline_.shares().total_ms();
    const bool moved = disturbed(before, job_.reader.read(), ms);
    const std::function<bool()>& stop = job_.protocol.stop;
    std::array<double, 4> facts{ms, moved ? 1.0 : 0.0, stop && stop() ? 1.0 : 0.0,
                                static_cast<double>(pipeline_.unlike())};
    job_.transport.all_reduce_max(facts);
    last_ms_ = facts[0];
    last_disturbed_ = facts[1] > 0;
    measured_.stopped = facts[2] > 0;
    measured_.unlike = std::max(measured_.unlike, static_cast<std::size_t>(facts[3]));
    // Ranks of a host leave a barrier at different moments, which the host's clock shows.
    const auto began_ms = mpi::gather(job_.transport, pipeline_.began_ms());
    shift_ms_ = began_ms[job_.transport.rank().index()] - began_ms[first_of_host_];
    moments_ = together(times, inferences);
    return last_ms_ / static_cast<double>(inferences);
  }

  /// Combines the times of all ranks, each of which has those of its own stages.
  Moments together(std::span<const InferenceTimes> times, std::size_t inferences) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    if (pipeline_.idle()) times = {};  // its times mean nothing
    const std::size_t copy = copy_device(job_.transport.rank(), job_.devices).copy;
    const std::size_t count = inferences;
    std::vector<double> both(2 * count, kNone);
    for (std::size_t i = 0; i < times.size(); ++i) {
      both[copy + i * copies()] = -times[i].start_ms - shift_ms_;
      both[count + copy + i * copies()] = times[i].end_ms + shift_ms_;
    }
    job_.transport.all_reduce_max(both);
    Moments moments;
    for (std::size_t i = 0; i < count; ++i) moments.start_ms.push_back(-both[i]);
    moments.end_ms.assign(both.begin() + static_cast<std::ptrdiff_t>(count), both.end());
    return moments;
  }

  /// Adds the results of the last run.
  void keep() {
    const std::vector<double>& end_ms = moments_.end_ms;
    const std::size_t full = std::min(fill(), end_ms.size() / 2);
    const MeanPeriod period = mean_period(end_ms, full, copies());
    measured_.window =
        measured_.runs == 0 ? period.counted : std::min(measured_.window, period.counted);
    measured_.periods_ms.push_back(period.ms);
    measured_.disturbed_periods.push_back(last_disturbed_);
    for (std::size_t i = full; i < end_ms.size(); ++i) {
      measured_.latencies_ms.push_back(end_ms[i] - moments_.start_ms[i]);
      measured_.disturbed_latencies.push_back(last_disturbed_);
    }
    measured_.inferences += end_ms.size();
    ++measured_.runs;
    measured_ms_ += last_ms_;
    const TimeShares& shares = pipeline_.shares();
    here_.computing_ms += shares.computing_ms;
    here_.transferring_ms += shares.transferring_ms;
    here_.waiting_ms += shares.waiting_ms;
    here_.own_ms += shares.own_ms;
  }

  void gather_ranks() {
    const std::size_t count = measured_.inferences / copies();
    RankOfInferences mine{here_, count, pipeline_.idle(), pipeline_.knows_computing(),
                          pipeline_.trace()};
    for (StageOfInference& stage : mine.trace) {
      for (double* ms : {&stage.awaited_ms, &stage.start_ms, &stage.end_ms}) *ms += shift_ms_;
    }
    const double each = count > 0 ? 1 / static_cast<double>(count) : 0;
    for (double* ms : {&mine.each.computing_ms, &mine.each.transferring_ms, &mine.each.waiting_ms,
                       &mine.each.own_ms}) {
      *ms *= each;
    }
    measured_.ranks = mpi::gather(job_.transport, mine);
  }

  const InferencesJob& job_;
  Pipeline& pipeline_;
  MeasuredInferences measured_;
  TimeShares here_;  // the sum over all measured runs
  Moments moments_;  // the last run's
  double last_ms_ = 0, measured_ms_ = 0;
  std::size_t first_of_host_ = 0;  // rank
  double shift_ms_ = 0;            // by which the last run started later here than there
  bool last_disturbed_ = false;
};

}  // namespace

InferencesOptions settled(const InferencesOptions& options, const ScheduleFile& schedule) {
  InferencesOptions chosen = options;
  if (chosen.in_flight == 0) {
    const bool says = schedule.has_prediction && schedule.predicted.throughput;
    chosen.in_flight = says ? schedule.predicted.throughput->in_flight : 2;
    if (chosen.in_flight > kMostInFlight) {
      throw InputError("the schedule asks for " + std::to_string(chosen.in_flight) +
                       " inferences in flight ($.predicted.in_flight); " +
                       std::to_string(kMostInFlight) + " are the most");
    }
  }
  // Coprime to the number of buffers of all copies, so that each buffer gets all inputs.
  if (chosen.inputs == 0) chosen.inputs = chosen.in_flight * chosen.copies + 1;
  return chosen;
}

Platform of_copies(const Platform& platform, std::size_t copies) {
  if (copies == 1) return platform;
  std::vector<Device> devices;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    for (Device device : platform.devices()) {
      if (copy > 0) device.name += " of copy " + std::to_string(copy + 1);
      devices.push_back(std::move(device));
    }
  }
  return Platform(std::move(devices));
}

MeanPeriod mean_period(std::span<const double> end_ms, std::size_t first, std::size_t copies) {
  std::vector<double> in_order(end_ms.begin(), end_ms.end());
  for (std::size_t i = 1; i < in_order.size(); ++i)
    in_order[i] = std::max(in_order[i], in_order[i - 1]);
  const std::size_t counted = (in_order.size() - 1 - first) / copies * copies;
  return {(in_order[first + counted] - in_order[first]) / static_cast<double>(counted), counted};
}

MeasuredInferences measure_inferences(const InferencesJob& job, Pipeline& pipeline) {
  return Measuring(job, pipeline).measure();
}

}  // namespace hios::job
