#pragma once

#include <cstdint>
#include <string_view>

/// Whether the machine did something else while a thing was measured.
namespace hios {

/// What kept this process from its cores, counted up from some moment in the past.
struct DisturbanceCounts {
  /// Time for which a hypervisor ran others while this machine's cores had work, summed over them.
  double stolen_ms = 0;
  /// How often the system took a core from a thread of this process that had more to do (a thread
  /// that waits by yielding is counted where somebody else wanted its core).
  std::uint64_t switches = 0;
};

/// Where the counts come from; tests have one of their own.
class DisturbanceReader {
 public:
  virtual ~DisturbanceReader() = default;
  virtual DisturbanceCounts read() = 0;
};

/// This machine's counts. What the system does not tell stays 0. Takes some microseconds and
/// allocates nothing; not for use within what is measured.
class HostDisturbance final : public DisturbanceReader {
 public:
  HostDisturbance();
  ~HostDisturbance() override;
  HostDisturbance(const HostDisturbance&) = delete;
  HostDisturbance& operator=(const HostDisturbance&) = delete;
  DisturbanceCounts read() override;

 private:
  int stat_ = -1;  // descriptor of /proc/stat; -1: there is none
};

/// Whether what took `ms` between two readings was disturbed: a hundredth of its time or more was
/// stolen, or cores were taken away more than once in ten milliseconds. The system's own
/// housekeeping takes a core some tens of times a second, for microseconds; another program that
/// wants it takes it several times as often, for milliseconds.
bool disturbed(const DisturbanceCounts& before, const DisturbanceCounts& after, double ms);

/// The stolen time in the text of /proc/stat, over all cores; 0 where it does not say.
double stolen_ms(std::string_view proc_stat, long ticks_per_second);

}  // namespace hios
