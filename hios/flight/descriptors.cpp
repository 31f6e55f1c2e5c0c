#include "hios/flight/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace hios::flight {
namespace {

/// Closes the descriptors from `first` to `last`, if there are any.
void close_between(unsigned first, unsigned last) {
  // Kernels before 5.9 have no close_range, and some containers refuse it.
  if (first > last || close_range(first, last, 0) == 0) return;
  const auto most = std::min(static_cast<unsigned>(sysconf(_SC_OPEN_MAX)), 1u << 16);
  for (unsigned each = first; each <= std::min(last, most); ++each) close(static_cast<int>(each));
}

}  // namespace

int above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(descriptor);
  return moved;
}

void close_all_but(std::array<int, 4> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int keep : kept) {
    if (keep > 0) close_between(first, static_cast<unsigned>(keep) - 1);
    first = static_cast<unsigned>(keep + 1);
  }
  close_between(first, ~0u);
}

}  // namespace hios::flight
