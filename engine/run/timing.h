#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "hios/base/json_io.h"
#include "mpi/transport.h"

/// The only clock of the house.
namespace hios {

using Clock = std::chrono::steady_clock;

inline double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

class Stopwatch {
 public:
  Stopwatch() : start_(Clock::now()) {}
  double ms() const { return ms_between(start_, Clock::now()); }
  double seconds() const { return ms() / 1000; }

 private:
  Clock::time_point start_;
};

/// How often a thing is measured: warm-up runs, then iterations until both limits are met
/// (`iterations` at least; `duration_s` of measured time at least).
struct Protocol {
  int warmup = 5;
  int iterations = 30;
  double duration_s = 0;
  Json json() const;
};

/// Warm-up → barrier → run → the maximum over ranks, again and again; every rank returns the same
/// list of latencies in ms. `once` returns this rank's time. Collective.
std::vector<double> measure(mpi::Transport& transport, const Protocol& protocol,
                            const std::function<double()>& once);

}  // namespace hios
