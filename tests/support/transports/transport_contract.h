#pragma once

#include <ostream>
#include <span>
#include <string>

#include "mpi/transport.h"
#include "support/fakes/fake_accelerator.h"

/// The contract of every Transport (mpi/transport.h), as checks that all ranks of a job run
/// together. One list applies to ranks as threads and to real MPI, in host memory and on devices.
namespace hios::test {

struct ContractCase {
  const char* name;
  /// Runs the check with EXPECT; every rank calls it. This rank's tensors are on the device; null:
  /// in host memory.
  void (*check)(mpi::Transport&, FakeAccelerator*);
};
inline std::ostream& operator<<(std::ostream& out, const ContractCase& c) { return out << c.name; }

std::span<const ContractCase> transport_contract();

}  // namespace hios::test
