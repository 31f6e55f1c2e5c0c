#include "mpi/session/address_space.h"

#include <sys/resource.h>

#include <string>

#include "hios/base/error.h"

namespace hios::mpi {

void require_address_space(std::uint64_t needed_mib) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= needed_mib << 20) return;
  throw InputError("a process may have " + std::to_string(limit.rlim_cur >> 20) +
                   " MiB of addresses only, and a rank may take " + std::to_string(needed_mib) +
                   " MiB in addition to its network: raise ulimit -v");
}

}  // namespace hios::mpi
