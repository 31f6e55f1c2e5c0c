#pragma once

#include <ostream>
#include <span>
#include <string>

#include "mpi/transport.h"
#include "support/fakes/fake_accelerator.h"

/// What every Transport promises (mpi/transport.h), as checks that all ranks of a job run together.
/// One list, judged on ranks as threads and on real MPI alike, in host memory and on devices.
namespace hios::test {

struct ContractCase {
  const char* name;
  /// Uses EXPECT; every rank calls it. The device is where this rank's tensors live; null: in host
  /// memory.
  void (*check)(mpi::Transport&, FakeAccelerator*);
};
inline std::ostream& operator<<(std::ostream& out, const ContractCase& c) { return out << c.name; }

std::span<const ContractCase> transport_contract();

}  // namespace hios::test
