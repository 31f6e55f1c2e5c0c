#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/host/disturbance.h"
#include "hios/base/json/json_io.h"
#include "hios/profile/settling.h"
#include "mpi/transport.h"

/// The number of repetitions of a measurement, and the loop that does them. Whole runs and the
/// sweeps of a profile use the same loop, so that the two can be compared.
namespace hios {

/// Warm-up runs until both limits are met (`warmup` at least; `warmup_s` of them at least: the
/// clocks of a GPU rise from idle for a while), then iterations until theirs are (`iterations` at
/// least; `duration_s` of measured time at least); then, where `settle_s` says so, more of them
/// until they have settled.
struct Protocol {
  int warmup = 5;
  double warmup_s = 0;
  int iterations = 30;
  double duration_s = 0;
  /// The additional measured time for iterations that have not settled; they also end when there
  /// are kMostTimes as many as without. 0: no further iterations.
  double settle_s = 0;
  /// Called on every rank after each run. Once it returns true on one rank, all ranks end together
  /// with the samples so far. May be empty.
  std::function<bool()> stop = {};
  /// Called on every rank before each run, off its clock. May be empty.
  std::function<void()> before = {};
  Json json() const;
};

/// The largest ratio of iterations to the planned number.
inline constexpr int kMostTimes = 4;
/// The largest relative difference between the two halves of settled iterations.
inline constexpr double kSettledWithin = 0.03;

/// The idle time of a device that nothing is known about, in seconds.
inline constexpr double kLongIdle = std::numeric_limits<double>::infinity();

/// Returns the warm-up time in seconds of a device that was idle for `idle_s`: its clock rate holds
/// for a moment.
double warmup_after(double idle_s, const Protocol& wanted);

/// Returns the same after the longest of the ranks' idle times. Collective, with the same protocol.
double warmup_after(double idle_s, const Protocol& wanted, mpi::Transport& transport);

/// The runs that measure() has done so far.
struct RunsDone {
  std::size_t warm_ups = 0, samples = 0;
  double measured_s = 0;  ///< the sum of the samples
  std::size_t all() const { return warm_ups + samples; }
};

/// Returns a line of progress: "measuring sweep  12/35  3 s left". For runs beyond the planned ones
/// it says that they go on until they settle, and for how long at most. `elapsed_s`: the time of
/// all runs. REQUIRES: one is done.
std::string progress_text(std::string_view what, const Protocol& protocol, const RunsDone& done,
                          double elapsed_s);

/// The measured times, the same on every rank.
struct Samples {
  std::vector<double> ms;       ///< by iteration: the maximum over ranks
  std::vector<bool> disturbed;  ///< by iteration: the machine of some rank did other work meanwhile
  bool stopped = false;  ///< by Protocol::stop; there may be fewer than the protocol wants, or none
};

/// Returns the median over the values of undisturbed samples, if these are at least half; else over
/// all. `disturbed` is Samples::disturbed, `values` has one for each sample. REQUIRES: some value.
double undisturbed_median(std::span<const double> values, const std::vector<bool>& disturbed);

/// Returns the difference between the medians of the fastest quarters of the first and the second
/// half of the samples, relative to the smaller; empty where the halves are too short. They are
/// halves in time, not odd and even samples: a disturbance that lasts a while is in one half, and
/// shows, until enough samples have followed that both halves have a quarter without it.
std::optional<double> difference_of_halves(const Samples& samples);

/// Returns the number of samples, disturbed ones, and their difference, for the profile.
Settling settling_of(const Samples& samples);

/// Measures repeatedly: Protocol::before, barrier, run, maximum over ranks, after warm-up runs.
/// `once` runs and returns this rank's time in ms; around it, `reader` counts the machine's other
/// work. `shown` (may be empty) is called after each run. Collective.
Samples measure(mpi::Transport& transport, const Protocol& protocol, DisturbanceReader& reader,
                const std::function<double()>& once,
                const std::function<void(const RunsDone&)>& shown = {});

}  // namespace hios
