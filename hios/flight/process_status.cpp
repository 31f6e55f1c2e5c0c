#include "hios/flight/process_status.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hios/flight/descriptors.h"

// Two sources, of which the first to answer is right. /proc/PID/stat has the status from the moment
// at which the process begins to end (before it closes its files) until its parent has waited for
// it, which is often sooner than anybody can read it. A descriptor of the process (pidfd) has the
// status from the latter moment on. Older systems do not have the second source.
namespace hios::flight {
namespace {

/// Fields of /proc/PID/stat (man proc_pid_stat); the second is the name in brackets.
constexpr int kFlagsField = 9, kStatusField = 52;
constexpr unsigned long long kEnding = 0x4;  // the kernel's PF_EXITING

/// The beginning of the kernel's struct pidfd_info, which the headers of older systems lack.
struct ProcessInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::array<std::uint32_t, 11> ids;
  std::int32_t status;
};
static_assert(sizeof(ProcessInfo) == 64, "the size is part of the request's number");
constexpr std::uint64_t kStatusIsKnown = 1 << 3;         // PIDFD_INFO_EXIT
constexpr auto kGetInfo = _IOWR(0xff, 11, ProcessInfo);  // PIDFD_GET_INFO

int open_stat(pid_t process) {
  char name[64];  // no string: memory may have run out
  std::snprintf(name, sizeof name, "/proc/%d/stat", static_cast<int>(process));
  return open(name, O_RDONLY | O_CLOEXEC);
}

int open_process([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

/// Returns a field after the name, which may hold brackets and spaces; null: the line is shorter.
const char* field(const char* line, int number) {
  const char* at = std::strrchr(line, ')');
  for (int before = 2; at != nullptr && before < number; ++before) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at;
}

}  // namespace

ProcessStatus::ProcessStatus(pid_t process)
    : stat_(above_standard(open_stat(process))), process_(above_standard(open_process(process))) {}

ProcessStatus::~ProcessStatus() {
  for (const int descriptor : {stat_, process_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

std::optional<int> ProcessStatus::read() const {
  std::array<char, 2048> line{};
  if (pread(stat_, line.data(), line.size() - 1, 0) > 0) {
    const char* const flags = field(line.data(), kFlagsField);
    const char* const status = field(line.data(), kStatusField);
    const bool ending = flags != nullptr && (std::strtoull(flags, nullptr, 10) & kEnding) != 0;
    if (!ending || status == nullptr) return std::nullopt;
    return static_cast<int>(std::strtol(status, nullptr, 10));
  }
  ProcessInfo info{};
  info.mask = kStatusIsKnown;
  const bool known = ioctl(process_, kGetInfo, &info) == 0 && (info.mask & kStatusIsKnown) != 0;
  return known ? std::optional<int>(info.status) : std::nullopt;
}

}  // namespace hios::flight
