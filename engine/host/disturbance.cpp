#include "engine/host/disturbance.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>

namespace hios {
namespace {

constexpr double kStolenShare = 0.01;
constexpr double kMsPerSwitch = 10;

}  // namespace

HostDisturbance::HostDisturbance() : stat_(open("/proc/stat", O_RDONLY | O_CLOEXEC)) {}

HostDisturbance::~HostDisturbance() {
  if (stat_ >= 0) close(stat_);
}

DisturbanceCounts HostDisturbance::read() {
  DisturbanceCounts counts;
  // The sum over all cores is the first line.
  std::array<char, 256> text;
  const ssize_t size = stat_ < 0 ? 0 : pread(stat_, text.data(), text.size(), 0);
  if (size > 0) {
    counts.stolen_ms =
        stolen_ms({text.data(), static_cast<std::size_t>(size)}, sysconf(_SC_CLK_TCK));
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    counts.switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  }
  return counts;
}

bool disturbed(const DisturbanceCounts& before, const DisturbanceCounts& after, double ms) {
  const double stolen = after.stolen_ms - before.stolen_ms;
  const auto switches = static_cast<double>(after.switches - before.switches);
  return (stolen > 0 && stolen >= kStolenShare * ms) || switches * kMsPerSwitch > ms;
}

// "cpu  user nice system idle iowait irq softirq steal …", in ticks since the start (proc(5)).
double stolen_ms(std::string_view proc_stat, long ticks_per_second) {
  constexpr std::string_view kAllCores = "cpu ";
  constexpr int kSteal = 8;  // the eighth number
  if (!proc_stat.starts_with(kAllCores) || ticks_per_second <= 0) return 0;
  const std::string_view line = proc_stat.substr(0, proc_stat.find('\n'));
  const char* next = line.data() + kAllCores.size();
  const char* const end = line.data() + line.size();
  std::uint64_t ticks = 0;
  for (int field = 0; field < kSteal; ++field) {
    while (next != end && *next == ' ') ++next;
    const auto [stopped, error] = std::from_chars(next, end, ticks);
    if (error != std::errc()) return 0;
    next = stopped;
  }
  return static_cast<double>(ticks) * 1000 / static_cast<double>(ticks_per_second);
}

}  // namespace hios
