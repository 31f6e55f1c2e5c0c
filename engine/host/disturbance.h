#pragma once

#include <cstdint>
#include <string_view>

/// Disturbances of measurements by other work of the machine.
namespace hios {

/// Counts of the events that kept this process from its cores, from some moment in the past on.
struct DisturbanceCounts {
  /// The time in which a hypervisor ran other machines while this machine's cores had work, summed
  /// over cores.
  double stolen_ms = 0;
  /// The number of times that the system took a core from a thread of this process that had more to
  /// do (a thread that waits by yielding is counted if another thread wanted its core).
  std::uint64_t switches = 0;
};

/// A source of these counts; tests have one of their own.
class DisturbanceReader {
 public:
  virtual ~DisturbanceReader() = default;
  virtual DisturbanceCounts read() = 0;
};

/// This machine's counts. A count that the system does not have stays 0. Reading takes some
/// microseconds and allocates nothing; it is not for use inside a measured run.
class HostDisturbance final : public DisturbanceReader {
 public:
  HostDisturbance();
  ~HostDisturbance() override;
  HostDisturbance(const HostDisturbance&) = delete;
  HostDisturbance& operator=(const HostDisturbance&) = delete;
  DisturbanceCounts read() override;

 private:
  int stat_ = -1;  // descriptor of /proc/stat; -1: none
};

/// Returns true if a run of `ms` between two readings was disturbed: a hundredth of its time or
/// more was stolen, or cores were taken away more than once in ten milliseconds. The system's own
/// housekeeping takes a core some tens of times a second, for microseconds; another program takes
/// it several times as often, for milliseconds.
bool disturbed(const DisturbanceCounts& before, const DisturbanceCounts& after, double ms);

/// Returns the stolen time in the text of /proc/stat, over all cores; 0 where it has none.
double stolen_ms(std::string_view proc_stat, long ticks_per_second);

}  // namespace hios
