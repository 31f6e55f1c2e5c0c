#pragma once

#include <cstdint>

namespace hios::mpi {

/// Throws InputError where the process may have fewer than `needed_mib` MiB of addresses (`ulimit
/// -v`): libraries end a process by a signal, or leave others waiting, if they get no memory while
/// they start.
void require_address_space(std::uint64_t needed_mib);

}  // namespace hios::mpi
