#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/host/disturbance.h"
#include "hios/base/json/json_io.h"
#include "hios/profile/settling.h"
#include "mpi/transport.h"

/// How often a thing is measured, and the loop that does it: for whole runs and for the sweeps of a
/// profile alike, so that the two can be compared.
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
  /// For how much more measured time iterations may go on until they have settled; they also end
  /// when there are kMostTimes as many as without. 0: they do not go on.
  double settle_s = 0;
  /// Asked on every rank after each run; once one says yes, all ranks end together with what they
  /// have. None: nobody asks.
  std::function<bool()> stop = {};
  Json json() const;
};

/// Iterations go on to this many times their number at most.
inline constexpr int kMostTimes = 4;
/// The two halves of settled iterations agree as closely as this.
inline constexpr double kSettledWithin = 0.03;

/// How far measure() is: the runs that it has done.
struct RunsDone {
  std::size_t warm_ups = 0, samples = 0;
  double measured_s = 0;  ///< of the samples
  std::size_t all() const { return warm_ups + samples; }
};

/// What a line of progress says: "measuring sweep  12/35  3 s left"; of runs beyond those that were
/// planned, that they go on until they settle, and for how long at most. `elapsed_s`: of all runs.
/// REQUIRES: one is done.
std::string progress_text(std::string_view what, const Protocol& protocol, const RunsDone& done,
                          double elapsed_s);

/// What was measured, the same on every rank.
struct Samples {
  std::vector<double> ms;       ///< of each iteration, the maximum over ranks
  std::vector<bool> disturbed;  ///< whether the machine of some rank did something else meanwhile
  bool stopped = false;  ///< by Protocol::stop; there may be fewer than the protocol wants, or none
};

/// By how much the fastest quarters (their medians) of the first and of the second half of the
/// samples differ, relative to the smaller; empty where the halves are too short to say. Halves in
/// time, not odd against even ones: what disturbs a machine for a while falls into one half, and
/// shows, until so many have followed that both halves hold a quarter without it.
std::optional<double> difference_of_halves(const Samples& samples);

/// How the measuring went, for the profile.
Settling settling_of(const Samples& samples);

/// Warm-up → barrier → run → the maximum over ranks, again and again. `once` returns this rank's
/// time in ms; around it, `reader` says what the machine did besides. `shown` (none: nobody) is
/// told after each run. Collective.
Samples measure(mpi::Transport& transport, const Protocol& protocol, DisturbanceReader& reader,
                const std::function<double()>& once,
                const std::function<void(const RunsDone&)>& shown = {});

}  // namespace hios
