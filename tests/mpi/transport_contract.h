#pragma once

#include <ostream>
#include <span>
#include <string>

#include "mpi/transport.h"

/// What every Transport promises (mpi/transport.h), as checks that all ranks of a job run together.
/// One list, judged on ranks as threads and on real MPI alike.
namespace hios::test {

struct ContractCase {
  const char* name;
  void (*check)(mpi::Transport&);  ///< uses EXPECT; every rank calls it
};
inline std::ostream& operator<<(std::ostream& out, const ContractCase& c) { return out << c.name; }

std::span<const ContractCase> transport_contract();

}  // namespace hios::test
