#pragma once

#include <chrono>

/// The clock of all times in the engine.
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

}  // namespace hios
